import Logging
import Synchronization

/// The events of a run in order, to be read when a seed fails.
final class Story: Sendable {
  private let lines = Mutex<[String]>([])
  let isKept: Bool
  private let now = Atomic<Int64>(0)

  init(isKept: Bool) { self.isKept = isKept }

  /// Sets the time of the next lines.
  func pass(_ time: Int64) { if isKept { now.store(time, ordering: .relaxed) } }

  func add(_ time: Int64, _ line: @autoclosure () -> String) {
    guard isKept else { return }
    now.store(time, ordering: .relaxed)
    let line = line()
    lines.withLock { $0.append("\(time / 1000) ms  \(line)") }
  }

  var text: String { lines.withLock { $0.joined(separator: "\n") } }

  func logger(_ name: String, _ run: PipelineRun) -> Logger {
    guard isKept else { return Logger(label: name) { _ in SwiftLogNoOpLogHandler() } }
    return Logger(label: name) { StoryLog(name: $0, story: self) }
  }

  /// Writes a stage's log into the story.
  private struct StoryLog: LogHandler {
    let name: String
    let story: Story
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let words = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      story.add(story.now.load(ordering: .relaxed), "\(name): \(event.message) \(words.joined(separator: " "))")
    }
  }
}
