/// Finds the moment that a benchmark's event ids carry in the bytes of a command.
///
/// A search in the bytes costs the reader far less than parsing, which would compete with the pipeline for the processor.
enum CommandBytes {
  private static let mark = Array(CommandReader.mark.utf8)

  /// The text that marks a command which an event caused at once. A command that waited for its time, or that shares
  /// another widget's push, is late on purpose and not slow.
  private static let atOnce = Array(#""reason":"EMITTED""#.utf8)

  /// Returns the moment when the newest of the command's events was due: the event that caused it.
  /// - Parameter value: the JSON of a command.
  /// - Returns: seconds of ``MonotonicClock``; nil when no id carries a moment, and for a command that no event caused at
  ///   once.
  static func newestDue(in value: Span<UInt8>) -> Double? {
    guard contains(atOnce, in: value) else { return nil }
    var newest: Int?
    var place = 0
    var matched = 0
    while place < value.count {
      matched = value[place] == mark[matched] ? matched + 1 : value[place] == mark[0] ? 1 : 0
      place += 1
      guard matched == mark.count else { continue }
      matched = 0
      var microseconds = 0
      while place < value.count, (0x30...0x39).contains(value[place]) {
        microseconds = microseconds &* 10 &+ Int(value[place] - 0x30)
        place += 1
      }
      newest = max(newest ?? 0, microseconds)
    }
    return newest.map { Double($0) / 1e6 }
  }

  private static func contains(_ text: [UInt8], in value: Span<UInt8>) -> Bool {
    guard value.count >= text.count else { return false }
    return (0...value.count - text.count).contains { place in
      text.indices.allSatisfy { value[place + $0] == text[$0] }
    }
  }
}
