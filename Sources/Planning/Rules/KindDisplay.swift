package import Domain
package import Policies

/// The fields that a kind displays, and the hashes under which states of them are kept.
package struct KindDisplay {
  /// The functions that measure the distance of each displayed field, in the policy's order. Empty if the policy does not say
  /// what the kind displays.
  let fields: [FieldDistance]
  /// The head of the rows in which screens of the kind are kept (`Screens`).
  let rowHead: UInt64
  /// The hash of the weights with which the kind's distances are computed, in the bits of a row's head that hold it
  /// (`Screens`).
  let scale: UInt64
  /// The hash of the fields, without the era: equal for the kinds that share what is known of a subject.
  let shared: UInt64
  /// The whole hash of these weights. Kinds that share their truths and have equal ones measure equal distances.
  let weights: UInt64
  /// The part of `truthKey` that is the same for all subjects: a hash of the fields and of the era. Under a policy with other
  /// fields, and in another era, states that were noted before must not be compared with new ones. So kinds that display the same fields,
  /// such as a small and a large widget, share what is known of a subject: an event for one of them tells what all of them
  /// show. Kinds whose screens have initial values do not, because those may differ.
  let truths: UInt64

  /// Creates the display of a kind.
  /// - Parameters:
  ///   - kind: The name of the kind.
  ///   - displays: The fields that it displays.
  ///   - era: The number of the time for which policies name the kind without a break (`KindSettings.era`).
  ///   - hashKey: The key of the planner's hashes.
  init(kind: Identifier, _ displays: [DisplayField], era: UInt64 = 0, hashKey: HashKey = .standard) {
    let own = Self.hash(of: kind, displays, era: era)
    shared = Self.shared(displays, of: kind)
    var hash = Hash64()
    hash.add(shared)
    hash.add(era)
    truths = hash.value
    rowHead = Screens.head(hash: own, count: displays.count)
    weights = KindPricing.measure(displays)
    scale = weights & Screens.scaleBits
    fields = displays.map { FieldDistance($0, hashKey: hashKey) }
  }

  /// Returns a number that is equal for the kinds that share what is known of a subject: those that display the same fields, all without
  /// initial values.
  /// - Parameters:
  ///   - displays: The fields that a kind displays.
  ///   - kind: The name of the kind.
  package static func shared(_ displays: [DisplayField], of kind: Identifier) -> UInt64 {
    hash(of: displays.allSatisfy { $0.initial == nil } ? nil : kind, displays)
  }

  private static func hash(of kind: Identifier?, _ displays: [DisplayField], era: UInt64 = 0) -> UInt64 {
    var hash = Hash64()
    if let kind { hash.add(kind) }
    if era != 0 { hash.add(era) }
    for field in displays {
      hash.add(field.path)
      hash.add((field.round ?? 0).bitPattern)
    }
    return hash.value
  }

  /// Whether the policy does not say what the kind displays.
  var isEmpty: Bool { fields.isEmpty }

  /// Returns the key under which `SubjectMemory` keeps the newest state of a subject for this kind, and for those that display the
  /// same fields.
  /// - Parameters:
  ///   - subject: The name of the subject, in UTF-8.
  ///   - key: The planner's hash key.
  func truthKey(subject: Span<UInt8>, hashKey key: HashKey) -> KeyedHash {
    var hash = SipHash(key: key)
    hash.add(utf8: subject)
    return truthKey(subject: hash)
  }

  /// Returns the key for a subject whose hash is known. The other meanings are those of `truthKey(subject:hashKey:)`.
  func truthKey(subject: SipHash) -> KeyedHash {
    var key = subject
    // No text of one word ends with this byte, so no event type leads to the key of a truth.
    key.add(truths | 0xff << 56)
    return key.value
  }
}
