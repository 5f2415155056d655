public import JSON

/// A public record with a JSON form.
public protocol JSONCodable {
  init(_ node: JSONNode) throws(DomainError)
  func encode(to writer: inout JSONWriter)
}

extension JSONCodable {
  /// Reads one JSON document of at most `DomainBounds.recordBytesMax` bytes. For many, give a reader that is kept.
  public init(json: [UInt8], reader: JSONReader? = nil) throws(DomainError) {
    let reader = reader ?? JSONReader(bytesMax: DomainBounds.recordBytesMax, nestingMax: DomainBounds.nestingMax)
    self = try reader.read(json) { (node: JSONNode) throws(DomainError) in try Self(node) }
  }

  /// The JSON document. For many, keep a writer and call `encode(to:)`.
  public func json() -> [UInt8] {
    var writer = JSONWriter(reserving: 512)
    encode(to: &writer)
    return writer.bytes
  }
}

extension Decision: JSONCodable {}
extension Command: JSONCodable {}

extension Registration: JSONCodable {
  /// Reads a registration whose time zone is looked up in the system's database.
  public init(_ node: JSONNode) throws(DomainError) { try self.init(node, timeZoneExists: TimeZoneNames.exists) }
}
