import InMemoryLogging
import Logging

extension InMemoryLogHandler {
  /// A logger whose entries are kept here.
  var logger: Logger { Logger(label: "test") { _ in self } }

  /// The critical entries as lines: the message, then the metadata in the order of its keys, without `incident`.
  var criticalLines: [String] {
    entries.filter { $0.level == .critical }.map { entry in
      "\(entry.message)"
        + entry.metadata.filter { $0.key != "incident" }.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        .joined()
    }
  }
}
