import Domain

/// The number of a text in `SharedTexts`.
struct SharedTextNumber: Hashable, Sendable {
  fileprivate(set) var number: UInt32

  /// The number that stands for no text.
  static let absent = SharedTextNumber(number: .max)

  fileprivate init(number: UInt32) { self.number = number }
}

/// Texts that are stored once however often they are used, with a count of the references to each. They are the ids of
/// instances: many devices have instances of the same ids.
struct SharedTexts {
  private var handles: ContiguousArray<TextHandle> = []
  private var references: ContiguousArray<UInt32> = []
  private var index = HashIndex()
  private var free: [UInt32] = []

  /// The number of distinct texts.
  var count: Int { index.count }

  /// Returns the number of a text; nil if nothing refers to it.
  /// - Parameters:
  ///   - text: The text to look up.
  ///   - texts: The pool that holds the texts.
  func number(of text: Identifier, in texts: TextPool) -> SharedTextNumber? {
    let utf8 = text.utf8.span
    return index.find(HashIndex.hash(utf8)) { texts.isEqual(handles[Int($0)], utf8) }.map(
      SharedTextNumber.init(number:))
  }

  /// Adds a reference to a text, and the text with the first reference.
  /// - Parameters:
  ///   - text: The text as UTF-8.
  ///   - texts: The pool that holds the texts.
  /// - Returns: The number of the text.
  mutating func retain(_ text: Span<UInt8>, in texts: inout TextPool) -> SharedTextNumber {
    let hash = HashIndex.hash(text)
    if let number = index.find(hash, where: { texts.isEqual(handles[Int($0)], text) }) {
      references[Int(number)] += 1
      return SharedTextNumber(number: number)
    }
    let handle = texts.insert(text)
    let number: UInt32
    if let unused = free.popLast() {
      number = unused
      handles[Int(number)] = handle
      references[Int(number)] = 1
    } else {
      number = UInt32(handles.count)
      handles.makeRoom()
      references.makeRoom()
      handles.append(handle)
      references.append(1)
    }
    index.insert(number, hash: hash)
    return SharedTextNumber(number: number)
  }

  /// Removes a reference to a text, and the text with the last reference.
  /// - Parameters:
  ///   - shared: The number of a text with at least one reference.
  ///   - texts: The pool that holds the texts.
  mutating func release(_ shared: SharedTextNumber, in texts: inout TextPool) {
    let number = shared.number
    references[Int(number)] -= 1
    guard references[Int(number)] == 0 else { return }
    let handle = handles[Int(number)]
    index.remove(number, hash: HashIndex.hash(texts.bytes.span.extracting(texts.range(of: handle))))
    texts.remove(handle)
    free.append(number)
  }

  /// Returns the place of a text in the pool.
  func handle(_ shared: SharedTextNumber) -> TextHandle { handles[Int(shared.number)] }

  /// The bytes that the tables take in memory, without the texts.
  var bytes: Int { index.bytes + handles.heldBytes + references.heldBytes }
}
