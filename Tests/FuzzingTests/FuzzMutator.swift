import Domain

/// Makes inputs from seeds: the same ones for the same seed number.
struct FuzzMutator {
  /// The largest input. Bounds of readers that lie beyond it have tests of their own.
  static let bytesMax = 1 << 18

  private let seeds: [[UInt8]]
  private let form: FuzzTarget.Form
  private var random: SeededRandom

  /// Makes a mutator.
  /// - Parameters:
  ///   - seeds: the inputs to begin with; an empty input if there are none.
  ///   - form: the grammar to keep.
  ///   - seed: the number that fixes all choices.
  init(seeds: [[UInt8]], form: FuzzTarget.Form, seed: UInt64) {
    self.seeds = seeds.isEmpty ? [[]] : seeds
    self.form = form
    random = SeededRandom(seed: seed)
  }

  /// Returns another input: a seed after one to four changes.
  mutating func next() -> [UInt8] {
    var input = anySeed()
    for _ in 0...random.below(4) {
      switch form {
      case .bytes: changeBytes(&input)
      case .text: changeText(&input)
      case .frames: changeFrames(&input)
      }
    }
    return input.count > Self.bytesMax ? Array(input.prefix(Self.bytesMax)) : input
  }

  private mutating func anySeed() -> [UInt8] { seeds[random.below(seeds.count)] }

  /// A random range of a collection of `count` elements, mostly a short one.
  private mutating func range(of count: Int) -> Range<Int> {
    let start = random.below(count + 1)
    let longest = random.chance(1, in: 8) ? count - start : min(count - start, 16)
    return start..<start + random.below(longest + 1)
  }

  // MARK: Bytes

  private mutating func changeBytes(_ input: inout [UInt8]) {
    let place = range(of: input.count)
    switch random.below(7) {
    case 0: if !input.isEmpty { input[random.below(input.count)] ^= 1 << UInt8(random.below(8)) }
    case 1: if !input.isEmpty { input[random.below(input.count)] = UInt8(random.below(256)) }
    case 2: input.replaceSubrange(place, with: FuzzWords.bytes[random.below(FuzzWords.bytes.count)])
    case 3: input.removeSubrange(place)
    case 4: input.insert(contentsOf: input[place], at: place.lowerBound)
    case 5: input.removeSubrange(place.lowerBound...)
    default:
      let other = anySeed()
      input.replaceSubrange(place, with: other[range(of: other.count)])
    }
  }

  // MARK: Text

  private mutating func changeText(_ input: inout [UInt8]) {
    let tokens = Self.tokens(of: input)
    guard !tokens.isEmpty, random.chance(7, in: 8) else { return changeBytes(&input) }
    let token = tokens[random.below(tokens.count)]
    switch random.below(6) {
    case 0, 1: input.replaceSubrange(token, with: FuzzWords.texts[random.below(FuzzWords.texts.count)])
    case 2:
      let other = anySeed()
      let others = Self.tokens(of: other)
      if !others.isEmpty { input.replaceSubrange(token, with: other[others[random.below(others.count)]]) }
    case 3: input.removeSubrange(stretch(from: token, tokens))
    case 4: input.insert(contentsOf: input[stretch(from: token, tokens)], at: token.lowerBound)
    default:
      // Inside a string: other characters, or many of them.
      let inside = token.lowerBound + random.below(token.count)
      let piece = FuzzWords.characters[random.below(FuzzWords.characters.count)]
      let times = random.chance(1, in: 10) ? 300 : 1
      input.insert(contentsOf: Array(repeating: piece, count: times).joined(), at: inside)
    }
  }

  /// The bytes from a token to the end of one of the next eight.
  private mutating func stretch(from token: Range<Int>, _ tokens: [Range<Int>]) -> Range<Int> {
    let following = tokens.drop { $0.lowerBound < token.lowerBound }.prefix(8)
    let last = following[following.startIndex + random.below(following.count)]
    return token.lowerBound..<last.upperBound
  }

  /// The strings, numbers and words of a text, and its marks of punctuation.
  private static func tokens(of text: [UInt8]) -> [Range<Int>] {
    func isWord(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"), 0x80...0xff:
        true
      default: false
      }
    }
    var tokens: [Range<Int>] = []
    var place = 0
    while place < text.count {
      let start = place
      place += 1
      if text[start] == UInt8(ascii: "\"") {
        while place < text.count, text[place] != UInt8(ascii: "\"") {
          place += text[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        place = min(place + 1, text.count)
      } else if isWord(text[start]) {
        while place < text.count, isWord(text[place]) { place += 1 }
      } else if text[start] == UInt8(ascii: " ") || text[start] == UInt8(ascii: "\n") {
        continue
      }
      tokens.append(start..<place)
    }
    return tokens
  }

  // MARK: Frames

  private mutating func changeFrames(_ input: inout [UInt8]) {
    var chunks = FuzzFrames.split(input)
    guard !chunks.isEmpty else { return changeBytes(&input) }
    let place = random.below(chunks.count)
    switch random.below(8) {
    case 0: chunks.remove(at: place)
    case 1: chunks.insert(chunks[place], at: random.below(chunks.count + 1))
    case 2: chunks.swapAt(place, random.below(chunks.count))
    case 3:
      let others = FuzzFrames.split(anySeed())
      if !others.isEmpty { chunks.insert(others[random.below(others.count)], at: place) }
    default:
      if chunks[place].contains(UInt8(ascii: "\"")) || chunks[place].contains(UInt8(ascii: "\n")) {
        changeText(&chunks[place])
      } else {
        changeBytes(&chunks[place])
      }
    }
    input = FuzzFrames.join(chunks)
  }
}
