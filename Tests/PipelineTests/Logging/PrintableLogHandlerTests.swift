import Logging
import Pipeline
import Synchronization
import Testing

@Suite("Printable logs")
struct PrintableLogHandlerTests {
  /// The text that the log's own handler writes to a stream.
  private final class Written: TextOutputStream, Sendable {
    private let written = Mutex("")
    var text: String { written.withLock { $0 } }
    func write(_ string: String) { written.withLock { $0 += string } }
  }

  private let written = Written()
  private let evil = "e1\n2026-01-01T00:00:00+0000 critical rouse: forged\u{1b}[31m\u{85}\u{202e}\r\u{2028}"

  private func logger() -> Logger {
    let written = written
    return Logger(label: "rouse") { PrintableLogHandler(StreamLogHandler(label: $0, stream: written)) }
  }

  /// Checks that the log holds one line, and no control but its line feed.
  private func expectOneLine() {
    let text = written.text
    let controls = text.unicodeScalars.filter {
      [.control, .format, .lineSeparator].contains($0.properties.generalCategory)
    }
    #expect(controls.map(\.value) == [10], "\(text.debugDescription)")
    #expect(text.unicodeScalars.last == "\n")
    #expect(text.contains(#"e1\u{a}2026-01-01T00:00:00+0000 critical rouse: forged\u{1b}[31m"#))
  }

  @Test("an id with a line feed in a line's metadata cannot begin a second line")
  func metadata() {
    logger().error("a record was set aside", metadata: ["event": "\(evil)"])
    expectOneLine()
  }

  @Test("nor can one in the message, in a key, or in the parts of a value")
  func parts() {
    logger().warning("\(evil)", metadata: [evil: ["\(evil)", [evil: .stringConvertible(evil)]]])
    expectOneLine()
  }

  @Test("nor can one in the metadata of the logger, or in an error")
  func everyLine() {
    struct Refusal: Error, CustomStringConvertible { var description: String }
    var log = logger()
    log[metadataKey: evil] = "\(evil)"
    log.error("refused", error: Refusal(description: evil))
    expectOneLine()
    #expect(log[metadataKey: evil] != nil)
  }

  @Test("the level of a logger is that of the handler it writes to")
  func level() {
    var log = logger()
    log.logLevel = .error
    log.warning("left out")
    #expect(written.text.isEmpty)
  }
}
