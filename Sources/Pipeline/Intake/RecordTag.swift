/// The tag of a record that intake sends: the index of the source record in `underway`, and whether it is a dead letter.
enum RecordTag: Equatable {
  case logRecord(Int)
  case letter(Int)

  /// Reads the tag of a delivery report.
  init(number: UInt64) {
    let index = Int(number >> 1)
    self = number & 1 == 1 ? .letter(index) : .logRecord(index)
  }

  /// The tag as the producer takes it.
  var number: UInt64 {
    switch self {
    case .logRecord(let index): UInt64(index) << 1
    case .letter(let index): UInt64(index) << 1 | 1
    }
  }
}
