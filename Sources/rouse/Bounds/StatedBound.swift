/// A bound, as the doc comment of its declaration states it.
struct StatedBound {
  /// The folder of `Sources` with the declaration.
  let module: String
  /// The name of the constant.
  let name: String
  /// The value in words: `262,144 bytes`, `2 h`, `1 to 200`.
  let value: String
  /// The bounded thing, and the reason for the bound.
  let meaning: String
  /// The consequence of a larger value.
  let beyond: String

  /// All bounds, by module, file and place. `deploy/docs.sh` writes the table `bounds.tsv` from the doc comments, and a test
  /// compares the two.
  static let all: [StatedBound] = String(decoding: PackageResources.bounds_tsv, as: UTF8.self).split(separator: "\n")
    .compactMap { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 5 else { return nil }
      return StatedBound(module: fields[0], name: fields[1], value: fields[2], meaning: fields[3], beyond: fields[4])
    }

  /// The modules that state a bound, in their order.
  static let modules: [String] = all.reduce(into: []) { modules, bound in
    if modules.last != bound.module { modules.append(bound.module) }
  }
}
