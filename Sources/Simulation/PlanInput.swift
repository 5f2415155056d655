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

extension PlanInput where Value == DomainEvent {
  /// An event without a time gets that of the line before it.
  static func events(path: String) throws(LineFileError) -> PlanInput {
    let decoder = CloudEventDecoder()
    var last = noTime
    return try PlanInput(path: path) { (bytes) throws(DomainError) in
      let event = try decoder.decode(CloudEventRecord(value: bytes, timestamp: last))
      if event.time == noTime { throw missingTime }
      last = event.time
      return event
    }
  }
}

extension PlanInput where Value == Signal {
  /// A signal without a time gets that of the line before it.
  static func signals(path: String) throws(LineFileError) -> PlanInput {
    let decoder = SignalDecoder()
    var last = noTime
    return try PlanInput(path: path) { (bytes) throws(DomainError) in
      let signal = try decoder.decode(CloudEventRecord(value: bytes, timestamp: last))
      if signal.time == noTime { throw missingTime }
      last = signal.time
      return signal
    }
  }
}

/// Stands for "no time": RFC 3339 cannot name it, so no record has it.
private let noTime = Timestamp(microseconds: .min)

private let missingTime = DomainError(
  .missingField, path: "$.time",
  message: "missing; expected an RFC 3339 date and time, which the first line of a file must have")
