import Domain
import LineFiles

/// One file of records: gives what its lines decode to, and hands over the lines that do not.
struct PlanInput<Value>: ~Copyable {
  private var reader: LineReader
  private let decode: ([UInt8]) throws(DomainError) -> Value
  private var bytes: [UInt8] = []

  init(path: String, decode: @escaping ([UInt8]) throws(DomainError) -> Value) throws(LineFileError) {
    reader = try LineReader(path: path)
    self.decode = decode
  }

  var bytesConsumed: Int64 { reader.bytesConsumed }
  var bytesTotal: Int64? { reader.bytesTotal }

  /// The next line that can be read; nil after the last. Empty lines are skipped.
  mutating func next(refused: (DeadLetter) throws(LineFileError) -> Void) throws(LineFileError) -> Value? {
    while true {
      do throws(LineFileError) {
        guard let line = try reader.next() else { return nil }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: line)
      } catch {
        guard case .lineTooLong(_, let line, let count, let countMax) = error else { throw error }
        try refused(
          DeadLetter(
            code: .tooLarge, path: "$", message: "expected at most \(countMax) bytes, found \(count)",
            file: reader.path,
            line: line))
        continue
      }
      if bytes.isEmpty { continue }
      do throws(DomainError) {
        return try decode(bytes)
      } catch {
        try refused(
          DeadLetter(
            code: error.code, path: error.path, message: error.message, file: reader.path, line: reader.lineNumber,
            value: bytes))
      }
    }
  }
}

extension PlanInput where Value == Registration {
  static func registrations(path: String) throws(LineFileError) -> PlanInput {
    let decoder = RegistrationDecoder()
    return try PlanInput(path: path) { (bytes) throws(DomainError) in try decoder.decode(bytes) }
  }
}

extension PlanInput {
  /// CloudEvents, of which one without a time gets that of the line before it.
  fileprivate static func timed(
    path: String, _ time: KeyPath<Value, Timestamp>,
    decode: @escaping (CloudEventRecord) throws(DomainError) -> Value
  ) throws(LineFileError) -> PlanInput {
    var last = noTime
    return try PlanInput(path: path) { (bytes) throws(DomainError) in
      let value = try decode(CloudEventRecord(value: bytes, timestamp: last))
      if value[keyPath: time] == noTime { throw missingTime }
      last = value[keyPath: time]
      return value
    }
  }
}

extension PlanInput where Value == DomainEvent {
  static func events(path: String) throws(LineFileError) -> PlanInput {
    let decoder = CloudEventDecoder()
    return try timed(path: path, \.time) { (record) throws(DomainError) in try decoder.decode(record) }
  }
}

extension PlanInput where Value == Signal {
  static func signals(path: String) throws(LineFileError) -> PlanInput {
    let decoder = SignalDecoder()
    return try timed(path: path, \.time) { (record) throws(DomainError) in try decoder.decode(record) }
  }
}

/// Stands for "no time": RFC 3339 cannot name it, so no record has it.
private let noTime = Timestamp(microseconds: .min)

private let missingTime = DomainError(
  .missingField, path: "$.time",
  message: "missing; expected an RFC 3339 date and time, which the first line of a file must have")
