import Foundation

/// The JSON of the client's files and requests.
enum ClientCoding {
  /// Returns a value as JSON, with its members in the order of their names.
  ///
  /// - Throws: `EncodingError` for a value that JSON cannot have.
  static func bytes(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(ServerTime(date).text)
    }
    return try encoder.encode(value)
  }

  /// Reads a value.
  ///
  /// - Throws: `DecodingError` if the bytes are none of the type.
  static func value<Value: Decodable>(_ type: Value.Type, _ bytes: Data) throws -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let text = try decoder.singleValueContainer().decode(String.self)
      return try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
    return try decoder.decode(type, from: bytes)
  }
}
