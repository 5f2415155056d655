public import JSON

/// A public record with a JSON form.
public protocol JSONCodable {
  /// The largest number of bytes of a document.
  static var documentBytesMax: Int { get }

  /// Reads a record from a JSON object.
  /// - Throws: `DomainError` with the path of the first member that is missing or wrong.
  init(_ node: JSONNode) throws(DomainError)

  /// Writes the record as a JSON object.
  func encode(to writer: inout JSONWriter)
}

extension JSONCodable {
  /// The bound on records from outside, `DomainBounds.recordBytesMax`.
  public static var documentBytesMax: Int { DomainBounds.recordBytesMax }

  /// Makes a reader for documents of this type. One thread can use it for many documents.
  public static func makeReader() -> JSONReader {
    JSONReader(bytesMax: documentBytesMax, nestingMax: DomainBounds.nestingMax)
  }

  /// Reads one JSON document of at most `documentBytesMax` bytes.
  /// - Parameters:
  ///   - json: the document.
  ///   - reader: the reader to use, such as one from `makeReader()` that is kept for many documents; nil makes a new
  ///     one.
  /// - Throws: `DomainError` with the path of the first member that is missing or wrong.
  public init(json: [UInt8], reader: JSONReader? = nil) throws(DomainError) {
    let reader = reader ?? Self.makeReader()
    self = try reader.read(json) { (node: JSONNode) throws(DomainError) in try Self(node) }
  }

  /// Reads one JSON document of at most `documentBytesMax` bytes that is part of a larger buffer, such as a line.
  /// - Parameters:
  ///   - json: the document.
  ///   - reader: the reader to use.
  /// - Throws: `DomainError` with the path of the first member that is missing or wrong.
  public init(json: Span<UInt8>, reader: JSONReader) throws(DomainError) {
    self = try reader.read(json) { (node: JSONNode) throws(DomainError) in try Self(node) }
  }

  /// Returns the JSON document. For many documents, keep a writer and call `encode(to:)`.
  public func json() -> [UInt8] {
    var writer = JSONWriter(reserving: 512)
    encode(to: &writer)
    return writer.bytes
  }
}

extension Decision: JSONCodable {
  /// The bound on records that planners write, `DomainBounds.plannedRecordBytesMax`.
  public static var documentBytesMax: Int { DomainBounds.plannedRecordBytesMax }
}

extension Command: JSONCodable {
  /// The bound on records that planners write, `DomainBounds.plannedRecordBytesMax`.
  public static var documentBytesMax: Int { DomainBounds.plannedRecordBytesMax }
}

extension Registration: JSONCodable {
  /// Reads a registration, and looks its time zone up in the system's database.
  /// - Throws: `DomainError` with the path of the first member that is missing or wrong.
  public init(_ node: JSONNode) throws(DomainError) { try self.init(node, timeZoneExists: TimeZoneNames.exists) }
}
