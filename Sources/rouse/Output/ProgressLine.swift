import Glibc

/// One line on a terminal that is written over and over, once work has taken two seconds. Silent where standard error is
/// no terminal.
final class ProgressLine {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let started = Machine.seconds()
  private var shown: Double?
  private var width = 0

  /// Seconds of work before anything is shown, and between two lines.
  private static let quietSeconds = 2.0
  private static let everySeconds = 0.25

  func show(_ text: @autoclosure () -> String) {
    guard isTerminal else { return }
    let now = Machine.seconds()
    guard now - started >= Self.quietSeconds, now - (shown ?? 0) >= Self.everySeconds else { return }
    shown = now
    let line = text()
    Words.show("\r" + line + String(repeating: " ", count: max(0, width - line.count)))
    width = line.count
  }

  /// Takes the line away.
  func end() {
    if shown != nil { Words.show("\r" + String(repeating: " ", count: width) + "\r") }
    shown = nil
  }

  /// ` 42 %`, empty where the whole is not known.
  static func share(_ part: Int64, of whole: Int64?) -> String {
    guard let whole, whole > 0 else { return "" }
    return " \(min(100, part * 100 / whole)) %"
  }
}
