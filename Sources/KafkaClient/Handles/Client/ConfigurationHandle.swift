import CLibrdkafka

/// Owns an `rd_kafka_conf_t` until a client takes it over.
@safe struct ConfigurationHandle: ~Copyable {
  private let pointer: OpaquePointer

  /// Makes a configuration. Throws an error that names the first property which librdkafka refuses.
  init(_ configuration: KafkaConfiguration) throws(KafkaError) {
    // `rd_kafka_conf_new` never returns NULL: it aborts the process when there is no memory.
    unsafe pointer = rd_kafka_conf_new()
    for (key, value) in configuration.properties {
      if let refusal = refusal(of: key, value) {
        // All stored properties are set, so `deinit` runs and releases the object.
        throw KafkaError(
          code: .invalidArgument, message: refusal.description, operation: "setting the kafka property \"\(key)\"",
          isRetriable: false)
      }
    }
  }

  /// Sets a property that this module depends on.
  func set(_ key: String, _ value: String) throws(KafkaError) {
    if let refusal = refusal(of: key, value) {
      throw KafkaError(
        code: .invalidArgument, message: refusal.description, operation: "setting the kafka property \"\(key)\"",
        isRetriable: false)
    }
  }

  /// Sets a property.
  /// - Returns: the reason if librdkafka refuses it, else `nil`. The reason never contains a secret value.
  func refusal(of key: String, _ value: String) -> KafkaConfiguration.Refusal? {
    var text = [CChar](repeating: 0, count: 512)
    // Both strings live for the call and are copied by it; the text is NUL-terminated within its size.
    let result = unsafe text.withUnsafeMutableBufferPointer { buffer in
      unsafe rd_kafka_conf_set(pointer, key, value, buffer.baseAddress, buffer.count)
    }
    guard result != RD_KAFKA_CONF_OK else { return nil }
    if result == RD_KAFKA_CONF_UNKNOWN { return .unknownName }
    guard !KafkaConfiguration.isSecret(key) else { return .secretValue }
    return .value(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
  }

  /// Lends the configuration to a closure that registers callbacks on it.
  func register(_ register: (OpaquePointer) -> Void) {
    unsafe register(pointer)
  }

  /// Makes a client, which takes over the configuration.
  consuming func makeClient(_ kind: rd_kafka_type_t, operation: String) throws(KafkaError) -> OpaquePointer {
    var text = [CChar](repeating: 0, count: 512)
    let client = unsafe text.withUnsafeMutableBufferPointer { buffer in
      unsafe rd_kafka_new(kind, pointer, buffer.baseAddress, buffer.count)
    }
    guard let client = unsafe client else {
      let code = rd_kafka_last_error()
      let message = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      // `rd_kafka_new` takes over the configuration only if it succeeds, so it is released here.
      _ = consume self
      throw KafkaError(code: KafkaErrorCode(code), message: message, operation: operation, isRetriable: false)
    }
    discard self
    return unsafe client
  }

  deinit {
    // This handle owns the pointer, which was not handed to a client.
    unsafe rd_kafka_conf_destroy(pointer)
  }
}
