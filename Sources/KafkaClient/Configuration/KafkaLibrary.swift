import CLibrdkafka

/// The librdkafka that this program runs with.
public enum KafkaLibrary {
  /// The version of the loaded library, such as `2.0.2`.
  public static var version: String {
    // `rd_kafka_version_str` answers a static NUL-terminated string.
    unsafe String(cString: rd_kafka_version_str())
  }
}
