import CLibrdkafka

/// The librdkafka that this program runs with.
public enum KafkaLibrary {
  /// Its version, such as `2.0.2`.
  public static var version: String {
    // A static string.
    unsafe String(cString: rd_kafka_version_str())
  }
}
