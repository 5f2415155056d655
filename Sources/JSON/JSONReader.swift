import CSimdjson

/// Parses JSON documents, one after the other, with buffers that it keeps. Make one reader per thread and reuse it.
///
/// A document is checked completely (syntax, UTF-8, bounds) before its root is handed out. Reading its nodes therefore fails only
/// if the document has another shape than expected.
@safe public final class JSONReader {
  /// The largest number of bytes of a document; longer ones are refused.
  public let bytesMax: Int
  /// The largest number of levels of nesting; `[1]` has one. Deeper documents are refused.
  public let nestingMax: Int
  private let parser: OpaquePointer
  private var isReading = false

  /// Makes a reader. Values outside of the bounds are a programmer's mistake and trap.
  /// - Parameters:
  ///   - bytesMax: The largest number of bytes of a document, from 1 to 64 MiB.
  ///   - nestingMax: The largest number of levels of nesting, from 1 to 1,000.
  public init(bytesMax: Int = 1 << 24, nestingMax: Int = 64) {
    precondition((1...(1 << 26)).contains(bytesMax), "a JSON reader takes documents of 1 byte to 64 MiB")
    precondition((1...1000).contains(nestingMax), "a JSON reader takes 1 to 1,000 levels of nesting")
    self.bytesMax = bytesMax
    self.nestingMax = nestingMax
    guard let made = unsafe rouse_json_parser_create(bytesMax, nestingMax) else {
      preconditionFailure("out of memory: a JSON parser needs some KiB")
    }
    unsafe parser = made
  }

  deinit { unsafe rouse_json_parser_destroy(parser) }

  /// Parses a document and lends its root.
  ///
  /// Nodes are valid only while `body` runs: no node may leave it, and `body` must not read another document with the same
  /// reader.
  /// - Parameters:
  ///   - bytes: The document. It may be any bytes.
  ///   - body: Receives the root.
  /// - Returns: The result of `body`.
  /// - Throws: The refusal of the document, converted to the error type of `body`, or the error of `body`.
  public func read<Value, Failure: JSONErrorConvertible>(
    _ bytes: [UInt8], _ body: (JSONNode) throws(Failure) -> Value
  ) throws(Failure) -> Value { try read(bytes.span, body) }

  /// Parses a document that is part of a larger buffer, such as a line, and lends its root. Works like the other overload.
  /// - Parameters:
  ///   - bytes: The document. It may be any bytes.
  ///   - body: Receives the root.
  /// - Returns: The result of `body`.
  /// - Throws: The refusal of the document, converted to the error type of `body`, or the error of `body`.
  public func read<Value, Failure: JSONErrorConvertible>(
    _ bytes: Span<UInt8>, _ body: (JSONNode) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    precondition(!isReading, "a JSON reader holds one document at a time: use another reader inside the closure")
    isReading = true
    defer { isReading = false }
    var document = unsafe rouse_json_document()
    // The parser copies the bytes to its own padded buffer, so nothing points to them afterwards.
    let code = unsafe bytes.withUnsafeBufferPointer { buffer -> Int32 in
      guard let base = buffer.baseAddress else { return Int32(rouse_json_empty) }
      return unsafe rouse_json_parse(parser, base, buffer.count, &document)
    }
    guard code == Int32(rouse_json_ok), let nodes = unsafe document.nodes, let strings = unsafe document.strings else {
      throw Failure(refusal(code, of: bytes))
    }
    // The document belongs to the parser, which this reader keeps alive and does not use while `body` runs.
    return try withExtendedLifetime(self) { () throws(Failure) -> Value in
      try body(unsafe JSONNode(nodes: nodes, strings: strings, index: 0))
    }
  }

  private func refusal(_ code: Int32, of bytes: Span<UInt8>) -> JSONError {
    switch Int(code) {
    case Int(rouse_json_too_large):
      JSONError(kind: .tooLarge, expected: "at most \(bytesMax) bytes", found: "\(bytes.count)")
    case Int(rouse_json_out_of_memory):
      JSONError(kind: .outOfMemory, expected: "memory for \(bytes.count) bytes")
    default:
      JSONDiagnosis.error(of: bytes.indices.map { bytes[$0] }, nestingMax: nestingMax)
    }
  }
}
