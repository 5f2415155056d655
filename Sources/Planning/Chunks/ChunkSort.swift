/// The sorts of chunks in `rouse.state`. Each has a `ChunkLog`, and numbers of its own. The raw value is the first letter of the
/// keys of its records.
enum ChunkSort: UInt8, CaseIterable {
  /// Devices with their instances, ledgers and the causes that wait: `c`.
  case devices = 0x63
  /// Notes about subjects (`SubjectNote`): `n`.
  case notes = 0x6E

  /// The plural noun for what the chunks hold, for messages.
  var noun: String {
    switch self {
    case .devices: "devices"
    case .notes: "notes"
    }
  }

  /// The content of a chunk, in words for an operator.
  var meaning: String {
    switch self {
    case .devices: "the newest state of some devices of the partition"
    case .notes: "the notes about all subjects of the partition"
    }
  }
}
