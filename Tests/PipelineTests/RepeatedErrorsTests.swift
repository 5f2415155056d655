import KafkaClient
import Logging
import Synchronization
import Testing

@testable import Pipeline

@Suite("errors that repeat")
struct RepeatedErrorsTests {
  @Test("equal errors are logged once in ten seconds, with the number of those between; others at once")
  func repeated() {
    let lines = Lines()
    let clock = SteppedClock()
    var errors = RepeatedErrors(clock: clock, logger: Logger(label: "test") { _ in lines.handler })
    let (down, other) = (
      KafkaError(code: .transportFailed, message: "down", operation: "consuming"),
      KafkaError(code: .transportFailed, message: "down", operation: "producing")
    )
    for _ in 0..<635 { errors.log(down) }
    errors.log(other)
    #expect(lines.all == ["", ""])
    clock.sleep(.seconds(10))
    errors.log(down)
    errors.log(other)
    #expect(lines.all == ["", "", "634", ""])
    // A hundred different errors are remembered; then all are forgotten.
    for number in 0..<200 {
      errors.log(KafkaError(code: .transportFailed, message: "\(number)", operation: "consuming"))
    }
    #expect(lines.all.count == 204)
    errors.log(down)
    #expect(lines.all.count == 205)
  }
}

/// The numbers of repetitions of the lines of a logger; empty for none.
private final class Lines: Sendable {
  private let kept = Mutex<[String]>([])

  var all: [String] { kept.withLock { $0 } }
  var handler: Handler { Handler(lines: self) }

  struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let count = event.metadata?["repetitions"].map { "\($0)" } ?? ""
      lines.kept.withLock { $0.append(count) }
    }
  }
}
