package import Domain

extension Policy {
  /// Returns the first field of an event that holds an integer of more than 64 bits and that the policy reads; nil if there is none.
  ///
  /// All kinds and all rules for the event's type count, whether or not their conditions hold: what an event means must not depend on
  /// the order in which rules are tried, nor on the kinds that devices have registered.
  /// - Parameter event: The event.
  package func inexactField(of event: DomainEvent) -> Identifier? {
    var read: Set<Identifier>?
    for place in event.fields.indices {
      guard case .inexact = event.fields[place].value else { continue }
      let paths = read ?? fieldsRead(ofType: event.type)
      read = paths
      if paths.contains(event.fields[place].path) { return event.fields[place].path }
    }
    return nil
  }

  /// Returns the paths of the fields that conditions, relevance, interest keys, displayed states and templates read of events of a
  /// type.
  private func fieldsRead(ofType type: Identifier) -> Set<Identifier> {
    var paths: Set<Identifier> = []
    for kind in kinds {
      let rules = kind.rules(forType: type)
      if rules.isEmpty { continue }
      for rule in rules { rule.noteFieldsRead(in: &paths) }
      for display in kind.displays { paths.insert(display.path) }
      kind.activity?.noteFieldsRead(in: &paths)
    }
    return paths
  }

  /// The paths of the fields of events that the templates of Live Activities read, sorted. `subject`, `type` and `source` are among them if
  /// a template reads them.
  package var contentPaths: [Identifier] {
    var paths: Set<Identifier> = []
    for kind in kinds { kind.activity?.noteFieldsRead(in: &paths) }
    return paths.sorted()
  }
}

extension Rule {
  fileprivate func noteFieldsRead(in paths: inout Set<Identifier>) {
    for condition in conditions {
      paths.insert(condition.field)
      if case .differs(let other) = condition.test { paths.insert(other) }
    }
    for interest in interests { paths.formUnion(interest.fields) }
    for term in relevance?.add ?? [] {
      switch term {
      case .changeOf(let field, let from, _, _), .differs(let field, let from, _): paths.formUnion([field, from])
      case .magnitudeOf(let field, _, _), .equals(let field, _, _), .changeFromShown(let field, _, _),
        .differsFromShown(let field, _):
        paths.insert(field)
      }
    }
  }
}

extension InterestTemplate {
  /// The paths of the fields that the template names.
  fileprivate var fields: [Identifier] {
    parts.compactMap { part in
      switch part {
      case .text: nil
      case .field(let path), .filtered(let path, _): path
      }
    }
  }
}

extension ActivityPolicy {
  /// The fields that the alert and the channel of a start name, by the place in `activity`. A start is not sent without them.
  var startFields: [(place: String, fields: [Identifier])] {
    [
      ("alert.title", alert?.title.fields ?? []), ("alert.body", alert?.body.fields ?? []),
      ("channel", channel?.fields ?? []),
    ]
  }

  fileprivate func noteFieldsRead(in paths: inout Set<Identifier>) {
    for member in contentState + attributes { member.value.noteFieldsRead(in: &paths) }
    paths.formUnion(startFields.flatMap(\.fields))
  }
}

extension AlertText {
  fileprivate var fields: [Identifier] {
    switch self {
    case .text(let template): template.fields
    case .localized(_, let arguments): arguments.flatMap(\.fields)
    }
  }
}

extension TemplateValue {
  fileprivate func noteFieldsRead(in paths: inout Set<Identifier>) {
    switch self {
    case .constant: break
    case .field(let path, _), .date(let path, _): paths.insert(path)
    case .text(let template): paths.formUnion(template.fields)
    case .object(let members): for member in members { member.value.noteFieldsRead(in: &paths) }
    }
  }
}
