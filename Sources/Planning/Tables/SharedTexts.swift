/// The number of a text in `SharedTexts`.
struct SharedTextNumber: Hashable, Sendable {
  fileprivate(set) var number: UInt32

  static let absent = SharedTextNumber(number: .max)

  @inline(__always)
  fileprivate init(number: UInt32) { self.number = number }
}

/// Texts with counted references, each stored once. Many devices have instances of the same ids.
struct SharedTexts {
  private var handles: ContiguousArray<TextHandle> = []
  private var references: ContiguousArray<UInt32> = []
  private var index = HashIndex()
  private var free: [UInt32] = []

  var count: Int { index.count }

  /// Returns the number of a text; nil where nothing refers to it.
  func number(of text: String, in texts: TextPool) -> SharedTextNumber? {
    let utf8 = text.utf8.span
    return index.find(HashIndex.hash(utf8)) { texts.isEqual(handles[Int($0)], utf8) }.map(
      SharedTextNumber.init(number:))
  }

  /// Adds a reference to a text.
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

  /// Removes a reference to a text, and the text with the last one.
  mutating func release(_ shared: SharedTextNumber, in texts: inout TextPool) {
    let number = shared.number
    references[Int(number)] -= 1
    guard references[Int(number)] == 0 else { return }
    let handle = handles[Int(number)]
    index.remove(number, hash: HashIndex.hash(texts.bytes.span.extracting(texts.range(of: handle))))
    texts.remove(handle)
    free.append(number)
  }

  @inline(__always)
  func handle(_ shared: SharedTextNumber) -> TextHandle { handles[Int(shared.number)] }

  /// The bytes of the tables, without the texts.
  var bytes: Int { index.bytes + handles.heldBytes + references.heldBytes }
}
