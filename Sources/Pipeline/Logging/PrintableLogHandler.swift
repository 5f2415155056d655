import Domain
public import Logging

/// Passes log lines on with every message, key and value escaped by `PrintableText`. So an id or an error with a line
/// feed cannot begin a new log line, and no control sequence reaches the terminal of a person who reads the log.
public struct PrintableLogHandler: LogHandler {
  private var target: any LogHandler

  /// Creates a handler.
  /// - Parameter target: The handler that receives the escaped lines.
  public init(_ target: any LogHandler) { self.target = target }

  /// Returns the handler that Rouse uses for all logs: it writes lines of text to standard error.
  public static func standardError(label: String) -> PrintableLogHandler {
    PrintableLogHandler(StreamLogHandler.standardError(label: label))
  }

  /// The lowest level that is logged.
  public var logLevel: Logger.Level {
    get { target.logLevel }
    set { target.logLevel = newValue }
  }

  /// The metadata of every line, escaped.
  public var metadata: Logger.Metadata {
    get { target.metadata }
    set { target.metadata = Self.escape(newValue) }
  }

  /// The value that every line has as metadata under a key. Key and value are escaped when it is set.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { target[metadataKey: Self.escape(key)] }
    set { target[metadataKey: Self.escape(key)] = newValue.map(Self.escape) }
  }

  /// Logs an event with its message and its metadata escaped. An error becomes the metadata `error.message`.
  public func log(event: LogEvent) {
    var metadata = event.metadata.map(Self.escape)
    if let error = event.error {
      metadata = (metadata ?? [:]).merging(["error.message": .string(Self.escape("\(error)"))]) { $1 }
    }
    target.log(
      event: LogEvent(
        level: event.level, message: "\(Self.escape(event.message.description))", metadata: metadata,
        source: event.source, file: event.file, function: event.function, line: event.line))
  }

  private static func escape(_ text: String) -> String { PrintableText(escaping: text).description }

  private static func escape(_ metadata: Logger.Metadata) -> Logger.Metadata {
    Dictionary(metadata.map { (escape($0.key), escape($0.value)) }) { first, _ in first }
  }

  private static func escape(_ value: Logger.Metadata.Value) -> Logger.Metadata.Value {
    switch value {
    case .string(let text): .string(escape(text))
    case .stringConvertible(let value): .string(escape("\(value)"))
    case .array(let values): .array(values.map { escape($0) })
    case .dictionary(let values): .dictionary(escape(values))
    }
  }
}
