import CLibrdkafka

extension KafkaErrorCode {
  init(_ code: rd_kafka_resp_err_t) {
    self.init(rawValue: code.rawValue)
  }

  /// librdkafka's name of the code, such as `_TIMED_OUT`; `ERR_<n>?` for one that it does not know.
  public var name: String {
    // `rd_kafka_err2name` returns a string for every number. The string is static or kept per thread, so it is copied at once.
    unsafe String(cString: rd_kafka_err2name(rd_kafka_resp_err_t(rawValue: rawValue)))
  }

  /// librdkafka's explanation of the code.
  var explanation: String {
    // `rd_kafka_err2str` returns a string for every number. The string is static or kept per thread, so it is copied at once.
    unsafe String(cString: rd_kafka_err2str(rd_kafka_resp_err_t(rawValue: rawValue)))
  }
}

extension KafkaError {
  /// Reads librdkafka's error object and releases it.
  init(consuming error: OpaquePointer, operation: String) {
    // The caller hands over the only reference; every `rd_kafka_error_*` reader is a plain field access, and the
    // text belongs to the object, so it is copied before the object goes.
    unsafe self.init(
      code: KafkaErrorCode(rd_kafka_error_code(error)), message: String(cString: rd_kafka_error_string(error)),
      operation: operation, isFatal: rd_kafka_error_is_fatal(error) != 0,
      isRetriable: rd_kafka_error_is_retriable(error) != 0,
      isAbortable: rd_kafka_error_txn_requires_abort(error) != 0)
    if !isFatal, !isAbortable, code.isTransient { isRetriable = true }
    unsafe rd_kafka_error_destroy(error)
  }

  /// Makes an error from a code alone.
  init(_ code: rd_kafka_resp_err_t, operation: String, message: String? = nil) {
    let code = KafkaErrorCode(code)
    self.init(code: code, message: message ?? code.explanation, operation: operation, isFatal: code == .fatal)
  }
}
