import Domain
import Policies

/// The fields that a kind displays, and the hashes under which states of them are kept.
struct KindDisplay {
  /// The functions that measure the distance of each displayed field, in the policy's order. Empty if the policy does not say
  /// what the kind displays.
  let fields: [FieldDistance]
  /// The head of the rows in which screens of the kind are kept (`ShownFields`).
  let rowHead: UInt64
  /// The hash of the weights with which the kind's distances are computed, in the bits of a row's head that hold it
  /// (`ShownFields`).
  let scale: UInt64
  /// The part of `truthKey` that is the same for all subjects: a hash of the kind's name, of the fields, and of the era. Under a
  /// policy with other fields, and in another era, states that were noted before must not be compared with new ones.
  private let stem: Hash64

  /// Creates the display of a kind.
  /// - Parameters:
  ///   - kind: The name of the kind.
  ///   - displays: The fields that it displays.
  ///   - era: The number of the time for which policies name the kind without a break (`KindSettings.era`).
  init(kind: Identifier, _ displays: [DisplayField], era: UInt64 = 0) {
    var hash = Hash64()
    hash.add(kind)
    if era != 0 { hash.add(era) }
    for field in displays {
      hash.add(field.path)
      hash.add((field.round ?? 0).bitPattern)
    }
    var stem = Hash64()
    stem.add(hash.value)
    self.stem = stem
    rowHead = ShownFields.head(hash: hash.value, count: displays.count)
    scale = KindPricing.measure(displays) & ShownFields.scaleBits
    fields = displays.map { FieldDistance($0) }
  }

  /// Whether the policy does not say what the kind displays.
  @inline(__always)
  var isEmpty: Bool { fields.isEmpty }

  /// Returns the key under which `SubjectMemory` keeps the newest state of a subject for this kind.
  /// - Parameter subject: The name of the subject, in UTF-8.
  @inline(__always)
  func truthKey(subject: Span<UInt8>) -> UInt64 {
    var key = stem
    key.add(utf8: subject)
    return key.value
  }
}
