import InMemoryLogging
import KafkaClient
import Testing

@testable import Installation
@testable import Pipeline

@Suite("errors that repeat")
struct RepeatedErrorsTests {
  @Test("equal errors are logged once in ten seconds, with the number of those between; others at once")
  func repeated() {
    let log = InMemoryLogHandler()
    let clock = SteppedClock()
    var errors = RepeatedErrors(clock: clock, logger: log.logger)
    let (down, other) = (
      KafkaError(code: .transportFailed, message: "down", operation: "consuming"),
      KafkaError(code: .transportFailed, message: "down", operation: "producing")
    )
    for _ in 0..<635 { errors.log(down) }
    errors.log(other)
    /// The numbers of repetitions of the lines; empty for none.
    var repetitions: [String] { log.entries.map { $0.metadata["repetitions"].map { "\($0)" } ?? "" } }
    #expect(repetitions == ["", ""])
    clock.sleep(.seconds(10))
    errors.log(down)
    errors.log(other)
    #expect(repetitions == ["", "", "634", ""])
    // A hundred different errors are remembered; then all are forgotten.
    for number in 0..<200 {
      errors.log(KafkaError(code: .transportFailed, message: "\(number)", operation: "consuming"))
    }
    #expect(repetitions.count == 204)
    errors.log(down)
    #expect(repetitions.count == 205)
  }
}
