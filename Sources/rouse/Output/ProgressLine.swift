import Domain
import Glibc

/// One line on a terminal that is overwritten again and again, once work has taken two seconds. It prints nothing when
/// standard error is no terminal.
final class ProgressLine {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let started = Machine.seconds()
  private var shown: Double?
  private var width = 0

  /// The seconds of work before the line appears.
  private static let quietSeconds = 2.0
  /// The least time between two updates, in seconds.
  private static let everySeconds = 0.25

  /// Shows a text in place of the last one. The text is computed only when it is shown.
  func show(_ text: @autoclosure () -> PrintableText) {
    guard isTerminal else { return }
    let now = Machine.seconds()
    guard now - started >= Self.quietSeconds, now - (shown ?? 0) >= Self.everySeconds else { return }
    shown = now
    let line = text()
    Words.show("\r" + line + .spaces(width - line.count))
    width = line.count
  }

  /// Removes the line from the terminal.
  func end() {
    if shown != nil { Words.show("\r" + .spaces(width) + "\r") }
    shown = nil
  }

  /// Returns a percentage such as ` 42 %`; empty when the whole is not known.
  static func share(_ part: Int64, of whole: Int64?) -> String {
    guard let whole, whole > 0 else { return "" }
    return " \(min(100, part * 100 / whole)) %"
  }
}
