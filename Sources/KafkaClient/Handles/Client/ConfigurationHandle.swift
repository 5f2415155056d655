import CLibrdkafka

/// Owns an `rd_kafka_conf_t` until a client takes it over.
@safe struct ConfigurationHandle: ~Copyable {
  private let pointer: OpaquePointer

  /// Makes a configuration with these properties; the first that librdkafka refuses is thrown, by its name.
  init(_ configuration: KafkaConfiguration) throws(KafkaError) {
    // `rd_kafka_conf_new` never answers NULL: it aborts when memory is out.
    unsafe pointer = rd_kafka_conf_new()
    for (key, value) in configuration.properties {
      if let reason = refusal(of: key, value) {
        // Thrown with every stored property set, so `deinit` releases the object.
        throw KafkaError(
          code: .invalidArgument, message: reason, operation: "setting the kafka property \"\(key)\"",
          isRetriable: false)
      }
    }
  }

  /// Sets a property that the client itself depends on.
  func set(_ key: String, _ value: String) throws(KafkaError) {
    if let reason = refusal(of: key, value) {
      throw KafkaError(
        code: .invalidArgument, message: reason, operation: "setting the kafka property \"\(key)\"",
        isRetriable: false)
    }
  }

  /// Sets a property; why librdkafka refuses it, or `nil`. The answer never repeats a secret value.
  private func refusal(of key: String, _ value: String) -> String? {
    var text = [CChar](repeating: 0, count: 512)
    // Both strings live for the call and are copied by it; the text is NUL-terminated within its size.
    let result = unsafe text.withUnsafeMutableBufferPointer { buffer in
      unsafe rd_kafka_conf_set(pointer, key, value, buffer.baseAddress, buffer.count)
    }
    guard result != RD_KAFKA_CONF_OK else { return nil }
    if result == RD_KAFKA_CONF_UNKNOWN { return "there is no property of that name" }
    guard !KafkaConfiguration.isSecret(key) else { return "the value is not accepted (it is secret, so not shown)" }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Registers the callbacks on the configuration; `context` must outlive the client that is made from it.
  func register(_ register: (OpaquePointer) -> Void) {
    unsafe register(pointer)
  }

  /// Makes a client, which owns the configuration from then on.
  consuming func makeClient(_ kind: rd_kafka_type_t, operation: String) throws(KafkaError) -> OpaquePointer {
    var text = [CChar](repeating: 0, count: 512)
    let client = unsafe text.withUnsafeMutableBufferPointer { buffer in
      unsafe rd_kafka_new(kind, pointer, buffer.baseAddress, buffer.count)
    }
    guard let client = unsafe client else {
      let code = rd_kafka_last_error()
      let message = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      // `rd_kafka_new` takes the configuration only when it succeeds: it is released here.
      _ = consume self
      throw KafkaError(code: KafkaErrorCode(code), message: message, operation: operation, isRetriable: false)
    }
    discard self
    return unsafe client
  }

  deinit {
    // Owned here, and not handed to a client.
    unsafe rd_kafka_conf_destroy(pointer)
  }
}
