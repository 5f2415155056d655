import Auditing
import Installation
import KafkaClient
import Operating

/// The text of a refused record with hashes in place of push tokens. Anyone with a token in clear and the app's APNs key can push to the device.
///
/// The record was refused, so it may be no JSON, and a token none of a proper form. A token is therefore each text of a member that has one in
/// registrations and signals, and each long run of hexadecimal digits, wherever it stands.
struct ConcealedText {
  private let hashes: TokenHashes

  /// The names of members whose texts are tokens.
  private static let names: Set<[UInt8]> = Set(["token", "widgets", "background"].map { Array($0.utf8) })
  /// The number of hexadecimal digits from which on they are taken for a token. Tokens of APNs have 64 or more.
  private static let digitsMin = 32

  /// Makes a reader of refused records.
  ///
  /// - Parameter hashes: Makes the hashes.
  init(_ hashes: TokenHashes) { self.hashes = hashes }

  /// Returns a text without tokens.
  ///
  /// - Parameter bytes: The text in UTF-8, or bytes that are none.
  func bytes(_ bytes: [UInt8]) -> [UInt8] {
    var shown: [UInt8] = []
    shown.reserveCapacity(bytes.count)
    var name: [UInt8]?
    var place = 0
    while place < bytes.count {
      guard bytes[place] == UInt8(ascii: "\"") else {
        let end = bytes[place...].firstIndex(of: UInt8(ascii: "\"")) ?? bytes.count
        let between = bytes[place..<end]
        // A colon keeps the name before it, until the value that follows.
        if !Self.isColon(between) { name = nil }
        append(between, to: &shown)
        place = end
        continue
      }
      let end = Self.end(of: place, in: bytes)
      let isClosed = end < bytes.count
      let text = bytes[place + 1..<end]
      shown.append(UInt8(ascii: "\""))
      if let known = name, Self.names.contains(known), !text.isEmpty {
        shown += hash(text)
        name = nil
      } else {
        append(text, to: &shown)
        name = Array(text)
      }
      if isClosed { shown.append(UInt8(ascii: "\"")) }
      place = end + 1
    }
    return shown
  }

  private func hash(_ token: ArraySlice<UInt8>) -> [UInt8] {
    Array(hashes.hash(of: String(decoding: token, as: UTF8.self)).utf8)
  }

  /// Adds a part of the text, with hashes in place of long runs of digits.
  private func append(_ part: ArraySlice<UInt8>, to shown: inout [UInt8]) {
    var rest = part
    while let first = rest.firstIndex(where: Self.isDigit) {
      let end = rest[first...].firstIndex { !Self.isDigit($0) } ?? rest.endIndex
      shown += rest[..<first]
      shown += end - first < Self.digitsMin ? Array(rest[first..<end]) : hash(rest[first..<end])
      rest = rest[end...]
    }
    shown += rest
  }

  /// Returns the place of the quotation mark that closes a text, or the end of the bytes.
  private static func end(of start: Int, in bytes: [UInt8]) -> Int {
    var place = start + 1
    while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
      place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(place, bytes.count)
  }

  /// Whether bytes are a colon between white space.
  private static func isColon(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.filter { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } == [UInt8(ascii: ":")]
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}

extension ConsoleContext {
  /// Returns the way to show the texts of a letter: those of a registration or a signal with hashes in place of push tokens. The bytes in the
  /// topic stay as they are.
  func concealing(_ letter: DeadLetterRecord) -> (_ bytes: [UInt8]) -> [UInt8] {
    concealing(letter, ConcealedText(TokenHashes(store: settings.storePath)))
  }

  private func concealing(
    _ letter: DeadLetterRecord, _ concealed: ConcealedText
  ) -> (_ bytes: [UInt8]) -> [UInt8] {
    // A record of unknown origin may be of any topic.
    if let topic = letter.origin?.partition.topic, settings.cluster.eventTopics.contains(topic) { return { $0 } }
    return concealed.bytes
  }

  /// Returns letters as lists show them: with hashes in place of the push tokens that a message may quote.
  func concealed(_ letters: [DeadLetterRecord]) -> [DeadLetterRecord] {
    let concealed = ConcealedText(TokenHashes(store: settings.storePath))
    return letters.map { letter in
      var shown = letter
      shown.text = String(decoding: concealing(letter, concealed)(Array(letter.text.utf8)), as: UTF8.self)
      return shown
    }
  }
}
