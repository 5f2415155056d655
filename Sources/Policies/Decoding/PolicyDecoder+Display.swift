import Domain

extension PolicyDecoder {
  /// Reads `displays` of a kind.
  mutating func displays(_ value: Located) -> [DisplayField] {
    let items = reader.list(value, of: "displayed fields", count: 0...PolicyBounds.displaysMax) ?? []
    return items.compactMap { item in
      var field = DisplayField(path: "")
      guard let keys = read(item, PolicyKeys.display, into: &field) else { return nil }
      if let per = keys["per"], let weights = keys["weights"] {
        reader.error(
          weights.owner, weights.path,
          "per in line \(per.owner.line) already says how far values are apart; per is for numbers that are measured, weights for single values: leave one of them out"
        )
      }
      return field
    }
  }

  /// Reads `per` of a displayed field: a number of units, or a percentage of the shown value.
  mutating func scale(_ value: Located) -> DisplayField.Scale? {
    let (least, most) = (PolicyBounds.perPercent.lowerBound, PolicyBounds.perPercent.upperBound)
    guard case .scalar(let text, _) = value.node.content, text.hasSuffix("%") else {
      guard case .scalar(_, plain: true) = value.node.content else {
        reader.mismatch(value, expected: "a number, or a percentage of the shown value such as 0.5%")
        return nil
      }
      return reader.number(value, in: PolicyBounds.per).map { .units($0) }
    }
    guard let percent = NumberText.parse(String(text.dropLast())), PolicyBounds.perPercent.contains(percent) else {
      reader.mismatch(
        value,
        expected: "a percentage of the shown value from \(NumberText.format(least))% to \(NumberText.format(most))%")
      return nil
    }
    reader.keep(value)
    return .percentOfShown(percent)
  }

  /// Reads `weights` of a displayed field.
  mutating func valueWeights(_ value: Located) -> [DisplayField.ValueWeight] {
    let entries = reader.named(value, "a value of the field", to: "its weight", max: PolicyBounds.displayWeightsMax)
    if entries?.isEmpty == true {
      reader.error(value.node.position, value.path, "no values; name at least one, or leave weights out")
    }
    return (entries ?? []).compactMap { name, value in
      reader.number(value, in: PolicyBounds.share).map { DisplayField.ValueWeight(name, $0) }
    }
  }
}
