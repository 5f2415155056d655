package import Domain

/// The wrongness of a screen that shows one value of a displayed field while another is true: 0, not at all, to 1, as wrong as
/// can be. Computing it only adds, multiplies and divides, so it gives the same bits on every machine. It never changes, and is a class so
/// that reading it from a list copies none of its parts.
package final class FieldDistance: Sendable {
  private let field: PatchedField
  /// The value that a screen shows of a subject before any event has carried the field.
  package let initial: DisplayedValue
  private let round: Double?
  private let per: DisplayField.Scale?
  /// Whether the policy rounds the numbers of the field, or measures their differences.
  private let isQuantity: Bool
  /// The key of the hashes of texts.
  private let hashKey: HashKey
  private let weight: Double
  /// The single values to which the policy gives a weight, in the order of the policy.
  private let weights: [Weighted]

  private struct Weighted {
    var value: DisplayedValue
    var weight: Double
  }

  /// The smallest distance of two numbers that look different, so that a screen that shows another value than the true
  /// one is never taken for right.
  package static let least = 1e-9

  /// Compiles a displayed field of the policy.
  /// - Parameters:
  ///   - field: The field.
  ///   - hashKey: The key of the hashes of texts, with which values are compared.
  package init(_ field: DisplayField, hashKey: HashKey = .standard) {
    self.field = PatchedField(field.path)
    round = field.round
    per = field.per
    isQuantity = field.isQuantity
    self.hashKey = hashKey
    initial = field.initial.map { field.displayed($0, hashKey) } ?? .absent
    weight = field.weightInForce
    weights = field.weights.flatMap { named in
      Self.values(writtenAs: named.value.text).map {
        Weighted(value: field.displayed($0, hashKey), weight: named.weight)
      }
    }
  }

  /// Returns the values of events that a policy writes as a text: the text itself, and the number or boolean that it denotes.
  private static func values(writtenAs text: String) -> [FieldValue] {
    switch text {
    case "true": [.string(text), .bool(true)]
    case "false": [.string(text), .bool(false)]
    default: [.string(text)] + (NumberText.value(text).map { [$0] } ?? [])
    }
  }

  /// The path of the field.
  package var path: Identifier { field.path }

  /// Returns the value of the field in an event; nil if the event says nothing about the field. A null counts as a value,
  /// `DisplayedValue.absent`, and so does an object or an array in which the field is no more. An object that takes the place of a field of
  /// the data itself says nothing: most events lack some displayed field, and would all be searched for one.
  package func value(in event: DomainEvent) -> DisplayedValue? {
    if let value = event.value(at: path) { return DisplayedValue(value, isQuantity: isQuantity, hashKey) }
    return field.isNested && field.isCleared(by: event) ? .absent : nil
  }

  /// Returns the distance between two values of the field, 0…1. It is 0 exactly when both look the same.
  /// - Parameters:
  ///   - shown: The value on the screen.
  ///   - truth: The true value.
  package func callAsFunction(shown: DisplayedValue, truth: DisplayedValue) -> Double {
    if shown == truth { return 0 }
    if let before = shown.number, let after = truth.number {
      if let round, Self.steps(before, round) == Self.steps(after, round) { return 0 }
      if let per { return max(Self.least, weight * Self.share(of: abs(after - before), per, shown: before)) }
    }
    return weights.isEmpty ? weight : max(weight, abs(weight(of: shown) - weight(of: truth)))
  }

  /// The largest distance of two values of the field, 0…1.
  package var most: Double { weights.reduce(weight) { max($0, $1.weight) } }

  /// Returns a value that is equal for two values of the field exactly if they look the same on the screen: the number
  /// of rounding steps for a number that is rounded, else the value itself.
  package func look(of value: DisplayedValue) -> DisplayedValue {
    guard let round, let number = value.number else { return value }
    return DisplayedValue(.number(Self.steps(number, round)))
  }

  private static func steps(_ number: Double, _ unit: Double) -> Double {
    (number / unit).rounded(.toNearestOrAwayFromZero)
  }

  private static func share(of difference: Double, _ per: DisplayField.Scale, shown: Double) -> Double {
    let full =
      switch per {
      case .units(let units): units
      case .percentOfShown(let percent): percent / 100 * abs(shown)
      }
    return difference < full ? difference / full : 1
  }

  private func weight(of value: DisplayedValue) -> Double {
    for known in weights where known.value == value { return known.weight }
    return 0
  }
}

extension DisplayField {
  /// Whether the numbers of the field are rounded, or their differences are measured.
  fileprivate var isQuantity: Bool { round != nil || per != nil }

  /// Returns what a screen shows of a value of the field.
  /// - Parameters:
  ///   - value: The value.
  ///   - hashKey: The key of the hashes of texts.
  package func displayed(_ value: FieldValue, _ hashKey: HashKey = .standard) -> DisplayedValue {
    DisplayedValue(value, isQuantity: isQuantity, hashKey)
  }
}

extension DisplayedValue {
  /// Creates the value of a field. An integer of 64 bits is kept exactly unless it is a quantity: distances of quantities are computed,
  /// from the nearest doubles, which are far closer than any distance that a policy measures.
  fileprivate init(_ value: FieldValue, isQuantity: Bool, _ hashKey: HashKey) {
    if isQuantity, case .integer(let integer) = value {
      self.init(.number(integer.nearest))
    } else {
      self.init(value, hashKey: hashKey)
    }
  }
}
