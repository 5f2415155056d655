package import Domain
package import LineFiles

/// A file of records, one a line: decodes each line, and reports the lines that cannot be decoded.
package struct PlanInput<Value>: ~Copyable {
  private var reader: LineReader
  private let decode: ([UInt8]) throws(DomainError) -> (value: Value, time: Timestamp)
  private var bytes: [UInt8] = []

  fileprivate init(
    path: String, decode: @escaping ([UInt8]) throws(DomainError) -> (value: Value, time: Timestamp)
  ) throws(LineFileError) {
    reader = try LineReader(path: path)
    self.decode = decode
  }

  /// The time at which the record that `next` returned last is to be planned; nil behind the last record. It is the log time that the
  /// record states, or else the time of an event or a signal.
  package private(set) var time: Timestamp?

  /// Returns the line of the record that `next` returned last as one that is refused.
  /// - Parameter error: The reason.
  package func refused(_ error: DomainError) -> RefusedLine {
    RefusedLine(
      code: error.code, path: error.path, message: error.message, file: reader.path, line: reader.lineNumber,
      value: bytes)
  }

  /// The number of bytes of the file, compressed or not, that have been read.
  package var bytesConsumed: Int64 { reader.bytesConsumed }
  /// The size of the file in bytes; nil if it is not known, as for standard input.
  package var bytesTotal: Int64? { reader.bytesTotal }

  /// Returns the next record, or nil after the last one. Skips empty lines.
  /// - Parameter refused: Receives each line that is too long or cannot be decoded.
  /// - Throws: `LineFileError` if the file cannot be read, or the error of `refused`.
  package mutating func next(refused: (RefusedLine) throws(LineFileError) -> Void) throws(LineFileError) -> Value? {
    while true {
      do throws(LineFileError) {
        guard let line = try reader.next() else {
          time = nil
          return nil
        }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: line)
      } catch {
        guard case .lineTooLong(_, let line, let count, let countMax) = error else { throw error }
        try refused(
          RefusedLine(
            code: .tooLarge, path: "$", message: "expected at most \(countMax) bytes, found \(count)",
            file: reader.path,
            line: line))
        continue
      }
      if bytes.isEmpty { continue }
      do throws(DomainError) {
        let record = try decode(bytes)
        time = record.time
        return record.value
      } catch {
        try refused(self.refused(error))
      }
    }
  }
}

extension PlanInput where Value == Registration {
  /// Opens a file of registrations. One that states no log time is planned before all events, in the distant past.
  /// - Parameter path: A `.jsonl` or `.jsonl.gz` file, or `-` for standard input.
  /// - Throws: `LineFileError` if the file cannot be opened.
  package static func registrations(path: String) throws(LineFileError) -> PlanInput<Registration> {
    let (decoder, logTime) = (RegistrationDecoder(), LogTime())
    return try PlanInput(path: path) { (bytes) throws(DomainError) in
      (try decoder.decode(bytes), try logTime.read(bytes) ?? .distantPast)
    }
  }
}

extension PlanInput {
  /// Opens a file of CloudEvents. A record without a time takes the time of the record before it; the first record must
  /// have one.
  fileprivate static func timed(
    path: String, _ time: KeyPath<Value, Timestamp>,
    decode: @escaping (CloudEventRecord) throws(DomainError) -> Value
  ) throws(LineFileError) -> PlanInput {
    var last = noTime
    let logTime = LogTime()
    return try PlanInput(path: path) { (bytes) throws(DomainError) in
      let value = try decode(CloudEventRecord(value: bytes, timestamp: last))
      if value[keyPath: time] == noTime { throw missingTime }
      last = value[keyPath: time]
      return (value, try logTime.read(bytes) ?? last)
    }
  }
}

extension PlanInput where Value == DomainEvent {
  /// Opens a file of domain events: CloudEvents in structured mode.
  /// - Parameter path: A `.jsonl` or `.jsonl.gz` file, or `-` for standard input.
  /// - Throws: `LineFileError` if the file cannot be opened.
  package static func events(path: String) throws(LineFileError) -> PlanInput<DomainEvent> {
    let decoder = CloudEventDecoder()
    return try timed(path: path, \.time) { (record) throws(DomainError) in try decoder.decode(record) }
  }
}

extension PlanInput where Value == Signal {
  /// Opens a file of signals: CloudEvents of the types `rouse.signal.*`.
  /// - Parameter path: A `.jsonl` or `.jsonl.gz` file, or `-` for standard input.
  /// - Throws: `LineFileError` if the file cannot be opened.
  package static func signals(path: String) throws(LineFileError) -> PlanInput<Signal> {
    let decoder = SignalDecoder()
    return try timed(path: path, \.time) { (record) throws(DomainError) in try decoder.decode(record) }
  }
}

/// The time of a record that has none. RFC 3339 cannot express it, so no record can state it.
private let noTime = Timestamp(microseconds: .min)

private let missingTime = DomainError(
  .missingField, path: "$.time",
  message: "missing; expected an RFC 3339 date and time, which the first line of a file must have")
