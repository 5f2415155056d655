public import JSON

/// Reads the decisions of blocks, one after the other. A line in the form that planners write costs one scan of its bytes and no
/// allocation; any other line goes through the full decoder. Make one reader per thread and reuse it.
public final class DecisionBlockReader {
  private let scanner = DecisionScanner()
  private let reader: JSONReader

  /// Creates a reader.
  /// - Parameter reader: The decoder of lines in another form.
  public init(reader: JSONReader = Decision.makeReader()) { self.reader = reader }

  /// Passes each line of a block to `body`, in order.
  /// - Parameters:
  ///   - block: The block, which may hold anything.
  ///   - body: Receives the number of the line, from 1, and its decision, or the mistake of a line that is no decision.
  /// - Returns: The number of lines.
  public func read(
    _ block: DecisionBlock, _ body: (_ number: Int, _ line: Result<DecisionLine, DomainError>) -> Void
  ) -> Int {
    let bytes = block.bytes
    var number = 0
    var start: Int? = 0
    while let first = start {
      number += 1
      let end: Int
      if let found = scanner.scan(bytes, from: first) {
        end = found.end
        body(number, .success(found.line))
      } else {
        end = bytes[first...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        do throws(DomainError) {
          let decision = try Decision(json: bytes.span.extracting(first..<end), reader: reader)
          body(number, .success(DecisionLine(decision)))
        } catch {
          body(number, .failure(error))
        }
      }
      start = end < bytes.count ? end + 1 : nil
    }
    return number
  }
}
