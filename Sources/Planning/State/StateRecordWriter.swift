import Domain

/// The version byte that starts every state value.
let stateFormatVersion: UInt8 = 1

/// Receives one record of `rouse.state`: its key, and its value or nil to remove the key. The bytes are valid only during the
/// call.
public typealias StateRecordSink = (_ key: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>?) -> Void

/// Writes records of `rouse.state`, one after the other, into one buffer.
struct StateRecordWriter {
  var binary = BinaryWriter()
  /// The events that wait on the device whose record is being written.
  var pending: [EventSlot] = []
  private var keyEnd = 0

  /// Starts a record. Its key is a letter, a slash and a name.
  mutating func begin(_ letter: Unicode.Scalar, _ name: String) {
    binary.reset()
    binary.uint8(UInt8(ascii: letter))
    binary.uint8(UInt8(ascii: "/"))
    binary.text(name)
    keyEnd = binary.bytes.count
  }

  /// Starts a record that is named by an identifier.
  mutating func begin(_ letter: Unicode.Scalar, _ name: Identifier) { begin(letter, name.text) }

  /// Starts a record with a name given as UTF-8.
  mutating func begin(_ letter: Unicode.Scalar, utf8 name: Span<UInt8>) {
    binary.reset()
    binary.uint8(UInt8(ascii: letter))
    binary.uint8(UInt8(ascii: "/"))
    binary.text(utf8: name)
    keyEnd = binary.bytes.count
  }

  /// Starts the value with the format version.
  mutating func beginValue() { binary.uint8(stateFormatVersion) }

  /// The key of the record.
  var key: ArraySlice<UInt8> { binary.bytes[..<keyEnd] }

  /// Passes the record to `body`, in pieces if its value exceeds a bound. `SplitRecord` describes the pieces.
  /// - Parameters:
  ///   - bytesMax: The largest size of a value. Bytes.
  ///   - body: Receives the record, or its pieces.
  /// - Returns: The number of pieces that follow the first one; 0 for a record in one piece.
  @discardableResult
  func lend(inPiecesOf bytesMax: Int, to body: StateRecordSink) -> Int {
    guard binary.bytes.count - keyEnd > bytesMax else {
      lend(to: body)
      return 0
    }
    return SplitRecord.lend(key: key, value: binary.bytes[keyEnd...], bytesMax: bytesMax, to: body)
  }

  /// Passes the record to `body`.
  /// - Parameter body: Receives the key and everything that was written since `beginValue`.
  /// - Returns: The size of the value in bytes.
  @discardableResult
  func lend(to body: StateRecordSink) -> Int {
    body(binary.bytes[..<keyEnd], binary.bytes[keyEnd...])
    return binary.bytes.count - keyEnd
  }

  /// Passes the removal of the key to `body`.
  func lendRemoval(to body: StateRecordSink) { body(binary.bytes[..<keyEnd], nil) }
}
