/// The words of an enumeration, found by their bytes without making a `String`.
struct CodeTable<Code: NumberedCode>: Sendable {
  private var codes: [Code] = []
  private var words: [[UInt8]] = []
  /// The first code whose word has a number of bytes; the words are sorted by it. One more entry than the longest word has bytes.
  private var firstOfLength: [Int] = []

  init() {
    let sorted = Code.allCases.sorted { $0.rawValue.utf8.count < $1.rawValue.utf8.count }
    codes = sorted
    words = sorted.map { Array($0.rawValue.utf8) }
    let longest = words.last?.count ?? 0
    firstOfLength = (0...longest + 1).map { length in words.firstIndex { $0.count >= length } ?? words.count }
  }

  /// Returns the code with a word; nil if there is none.
  func code(_ word: Span<UInt8>) -> Code? {
    guard word.count + 1 < firstOfLength.count else { return nil }
    for index in firstOfLength[word.count]..<firstOfLength[word.count + 1] {
      let known = words[index]
      var at = 0
      while at < word.count, known[at] == word[at] { at += 1 }
      if at == word.count { return codes[index] }
    }
    return nil
  }
}
