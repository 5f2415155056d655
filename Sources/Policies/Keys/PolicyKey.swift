import Domain

/// One key of a policy or profile document: its description, how its value is read into the value that holds it, and how the
/// value is shown by `rouse policy explain` and `rouse policy diff`.
///
/// A key is described here once. Reading, help for misspelt keys and explanations are driven by the description, and a test
/// compares `schemas/policy.schema.json` with it, from which the reference page is made.
struct PolicyKey<Owner>: Sendable {
  typealias Read = @Sendable (inout PolicyDecoder, Located, inout Owner) -> Void
  typealias Show = @Sendable (Owner, _ path: String, inout PolicyValues) -> Void

  var description: PolicyKeyDescription
  /// Reads the value of the key and stores it in the owner. Mistakes are noted in the decoder's reader.
  var read: Read
  /// Adds the value of the key, as the owner holds it, to a list of values under a path.
  var show: Show
  /// Whether the key is read after all others of its mapping, because it depends on them.
  var isReadLast = false

  var name: String { description.name }

  /// Creates a key whose value is read and shown by the given closures.
  init(
    _ name: String, _ form: PolicyForm, required isRequired: Bool = false, default standard: String? = nil,
    _ meaning: String, read: @escaping Read, show: @escaping Show = { _, _, _ in }
  ) {
    description = PolicyKeyDescription(
      name: name, meaning: meaning, form: form, isRequired: isRequired, standard: standard)
    self.read = read
    self.show = show
  }

  /// Returns the same key, shown only if a condition holds.
  func shown(where condition: @escaping @Sendable (Owner) -> Bool) -> PolicyKey {
    var key = self
    key.show = { owner, path, values in
      if condition(owner) { show(owner, path, &values) }
    }
    return key
  }

  /// The same key, read after all others of its mapping.
  var readLast: PolicyKey {
    var key = self
    key.isReadLast = true
    return key
  }

  /// The same key, without which the mapping is refused.
  var required: PolicyKey {
    var key = self
    key.description.isRequired = true
    return key
  }
}

// MARK: Keys with a simple value

extension PolicyKey {
  typealias Place<Value> = any WritableKeyPath<Owner, Value> & Sendable

  /// Creates a key whose value is a duration within bounds. The owner holds it at `place`.
  static func duration(
    _ name: String, _ place: Place<TimeSpan>, _ range: ClosedRange<TimeSpan>, required: Bool = false,
    default standard: String? = nil, _ meaning: String, reason: String? = nil
  ) -> PolicyKey {
    PolicyKey(name, .duration(range), required: required, default: standard, meaning) { decoder, value, owner in
      if let span = decoder.reader.duration(value, in: range, reason: reason) { owner[keyPath: place] = span }
    } show: { owner, path, values in
      values.add(path, PolicyText.duration(owner[keyPath: place]))
    }
  }

  /// Creates a key whose value is a duration within bounds. Without the key the owner holds nil.
  static func duration(
    _ name: String, _ place: Place<TimeSpan?>, _ range: ClosedRange<TimeSpan>, _ meaning: String
  ) -> PolicyKey {
    PolicyKey(name, .duration(range), meaning) { decoder, value, owner in
      owner[keyPath: place] = decoder.reader.duration(value, in: range)
    } show: { owner, path, values in
      if let span = owner[keyPath: place] { values.add(path, PolicyText.duration(span)) }
    }
  }

  /// Creates a key whose value is a number within bounds. The owner holds it at `place`.
  static func number(
    _ name: String, _ place: Place<Double>, _ range: ClosedRange<Double>, required: Bool = false,
    default standard: String? = nil, _ meaning: String
  ) -> PolicyKey {
    PolicyKey(name, .number(range), required: required, default: standard, meaning) { decoder, value, owner in
      if let number = decoder.reader.number(value, in: range) { owner[keyPath: place] = number }
    } show: { owner, path, values in
      values.add(path, .number(owner[keyPath: place]))
    }
  }

  /// Creates a key whose value is a number within bounds. Without the key the owner holds nil.
  static func number(
    _ name: String, _ place: Place<Double?>, _ range: ClosedRange<Double>, _ meaning: String
  ) -> PolicyKey {
    PolicyKey(name, .number(range), meaning) { decoder, value, owner in
      owner[keyPath: place] = decoder.reader.number(value, in: range)
    } show: { owner, path, values in
      if let number = owner[keyPath: place] { values.add(path, .number(number)) }
    }
  }

  /// Creates a key whose value is a bound on relevance, 0…1. Without the key no relevance reaches the bound: the owner
  /// holds a value above 1, which is not shown.
  static func relevanceBound(_ name: String, _ place: Place<Double>, _ meaning: String) -> PolicyKey {
    number(name, place, PolicyBounds.share, meaning).shown { $0[keyPath: place] <= 1 }
  }

  /// Creates a key whose value is a whole number within bounds.
  static func integer(
    _ name: String, _ place: Place<Int>, _ range: ClosedRange<Int>, required: Bool = false, _ meaning: String
  ) -> PolicyKey {
    PolicyKey(name, .integer(range), required: required, meaning) { decoder, value, owner in
      if let number = decoder.reader.integer(value, in: range) { owner[keyPath: place] = number }
    } show: { owner, path, values in
      values.add(path, .number(Double(owner[keyPath: place])))
    }
  }

  /// Creates a key whose value is `true` or `false`.
  static func flag(
    _ name: String, _ place: Place<Bool>, default standard: String? = nil, _ meaning: String
  ) -> PolicyKey {
    PolicyKey(name, .flag, default: standard, meaning) { decoder, value, owner in
      if let flag = decoder.reader.flag(value) { owner[keyPath: place] = flag }
    } show: { owner, path, values in
      values.add(path, .bool(owner[keyPath: place]))
    }
  }

  /// Creates a key whose value is a local time `HH:MM`, which the owner holds as minutes after midnight.
  static func clock(
    _ name: String, _ place: Place<Int>, required: Bool = false, default standard: String? = nil, _ meaning: String
  ) -> PolicyKey {
    PolicyKey(name, .clock, required: required, default: standard, meaning) { decoder, value, owner in
      if let minute = decoder.reader.clock(value) { owner[keyPath: place] = minute }
    } show: { owner, path, values in
      values.add(path, .string(PolicyText.clock(owner[keyPath: place])))
    }
  }

  /// Creates a key whose value is 24 weights, one for each local hour.
  /// - Parameter scale: returns the number by which each weight is divided before the owner holds it.
  static func hours(
    _ name: String, _ place: Place<[Double]>, _ meaning: String,
    scaledBy scale: @escaping @Sendable ([Double]) -> Double
  ) -> PolicyKey {
    PolicyKey(name, .hours, meaning) { decoder, value, owner in
      guard let weights = decoder.reader.hours(value) else { return }
      let unit = scale(weights)
      owner[keyPath: place] = weights.map { $0 / unit }
    } show: { owner, path, values in
      values.add(path, .string(values.text(hours: owner[keyPath: place])))
    }
  }

  /// Creates a key whose value is a mapping with known keys. The owner always holds a value for it.
  static func mapping<Value>(
    _ name: String, _ place: Place<Value>, _ mapping: PolicyMapping<Value>, required: Bool = false, _ meaning: String
  ) -> PolicyKey {
    PolicyKey(name, .mapping, required: required, meaning) { decoder, value, owner in
      _ = decoder.read(value, mapping, into: &owner[keyPath: place])
    } show: { owner, path, values in
      values.add(owner[keyPath: place], mapping, at: path)
    }
  }
}
