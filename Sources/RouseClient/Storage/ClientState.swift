import Foundation

/// The state of a client that its processes share: the registration, the pause after a failure, and what was lost.
struct ClientState: Codable, Sendable, Equatable {
  /// The state of the registration.
  ///
  ///     unknown ──update──► pending ──acknowledged──► sent
  ///                            ▲  └──refused for good──► refused
  ///                            └──────update────────── sent, refused, forgetting
  ///     any ──forget──► forgetting ──acknowledged, or refused for good──► unknown
  enum RegistrationPhase: String, Codable {
    /// There is none.
    case unknown
    /// It is to be sent.
    case pending
    /// The brokers have it.
    case sent
    /// The gateway refused it for good. It is sent again after the next update.
    case refused
    /// The device is to be forgotten.
    case forgetting
  }

  /// The newest registration; nil if there is none.
  var registration: DeviceRegistration?
  /// The state of the registration.
  var phase = RegistrationPhase.unknown
  /// The number of changes of the registration, by which an answer to an older one is told from one to the newest.
  var revision = 0
  /// The newest `updatedAt` that was sent.
  var stamp: ServerTime?
  /// The time by which the server's clock is ahead, in seconds.
  var clockOffsetSeconds = 0
  /// The failed attempts since the last that worked.
  var failures = 0
  /// The earliest time of the next attempt, by the clock of the device; nil for at once.
  var retryAt: ServerTime?
  /// Whether the server set the time of the next attempt, and not a lost network.
  var isPausedByServer = false
  /// The signals that were dropped, because the queue was full.
  var dropped = 0
  /// The signals and files that could not be read any longer.
  var damaged = 0
  /// The signals and registrations that the gateway refused for good.
  var refused = 0
}

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
