import Domain

/// The version byte that starts every state value.
let stateFormatVersion: UInt8 = 1

/// Takes one record of `rouse.state`: its key, and its value or nil where the key is to be removed. The bytes are lent:
/// what is kept must be copied.
public typealias StateRecordSink = (_ key: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>?) -> Void

/// Writes records one after the other into one buffer.
struct StateRecordWriter {
  var binary = BinaryWriter()
  /// The events that wait on the device in hand.
  var pending: [EventSlot] = []
  private var keyEnd = 0

  /// Starts a record whose key is a letter, a slash and a name.
  mutating func begin(_ letter: Unicode.Scalar, _ name: String) {
    binary.reset()
    binary.uint8(UInt8(ascii: letter))
    binary.uint8(UInt8(ascii: "/"))
    binary.text(name)
    keyEnd = binary.bytes.count
  }

  /// The same, for a name given as UTF-8.
  mutating func begin(_ letter: Unicode.Scalar, utf8 name: Span<UInt8>) {
    binary.reset()
    binary.uint8(UInt8(ascii: letter))
    binary.uint8(UInt8(ascii: "/"))
    binary.text(utf8: name)
    keyEnd = binary.bytes.count
  }

  /// Starts the value.
  mutating func beginValue() { binary.uint8(stateFormatVersion) }

  /// Lends the record, whose value is what was written since `beginValue`.
  /// - Returns: the size of the value.
  @discardableResult
  func lend(to body: StateRecordSink) -> Int {
    body(binary.bytes[..<keyEnd], binary.bytes[keyEnd...])
    return binary.bytes.count - keyEnd
  }

  /// Lends the removal of the key.
  func lendRemoval(to body: StateRecordSink) { body(binary.bytes[..<keyEnd], nil) }
}
