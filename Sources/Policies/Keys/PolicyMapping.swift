/// The description of the keys of one mapping of a document, in the order in which help and explanations list them.
struct PolicyMapping<Owner>: Sendable {
  let keys: [PolicyKey<Owner>]

  init(_ keys: [PolicyKey<Owner>]) { self.keys = keys }

  var names: [String] { keys.map(\.name) }

  /// Returns the same keys, all required, followed by others.
  func allRequired(and others: [PolicyKey<Owner>]) -> PolicyMapping { PolicyMapping(keys.map(\.required) + others) }
}

extension PolicyDecoder {
  /// Reads the keys of a mapping into its owner. Everything that is wrong is noted.
  /// - Parameters:
  ///   - value: the mapping in the document.
  ///   - mapping: its keys.
  ///   - owner: the value that the keys are read into. It is incomplete if an error was noted.
  ///   - reasons: keys that are required here in addition to those that always are, each with the reason.
  /// - Returns: the keys that were given; nil if the value is no mapping, or has too many keys.
  mutating func read<Owner>(
    _ value: Located, _ mapping: PolicyMapping<Owner>, into owner: inout Owner,
    requiring reasons: KeyValuePairs<String, String> = [:]
  ) -> LocatedKeys? {
    let required = mapping.keys.filter(\.description.isRequired).map(\.name) + reasons.map(\.key)
    let words = Dictionary(reasons.map { ($0.key, $0.value) }) { first, _ in first }
    guard let given = reader.keys(value, allowed: mapping.names, required: required, reasons: words) else { return nil }
    for isLast in [false, true] {
      for key in mapping.keys where key.isReadLast == isLast {
        if let value = given[key.name] { key.read(&self, value, &owner) }
      }
    }
    return given
  }
}

extension PolicyValues {
  /// Adds the values that an owner holds, one for each key of a mapping.
  /// - Parameters:
  ///   - owner: the value that holds the values of the keys.
  ///   - mapping: its keys.
  ///   - path: the path of the mapping in the document; empty for the document itself.
  mutating func add<Owner>(_ owner: Owner, _ mapping: PolicyMapping<Owner>, at path: String) {
    for key in mapping.keys { key.show(owner, path.isEmpty ? key.name : "\(path).\(key.name)", &self) }
  }
}
