/// Finds the name that was most likely meant by a misspelt one.
public enum NearestName {
  /// The length, in Unicode scalars, up to which names are compared. The table of a comparison grows with the square of it.
  private static let lengthMax = 64

  /// Returns the candidate that is the fewest edits away from a name.
  /// - Parameters:
  ///   - name: the misspelt name. Letter case does not count.
  ///   - candidates: the names that exist.
  /// - Returns: the first of the nearest candidates; nil if each is more edits away than a third of the longer of the
  ///   two names. One edit is always allowed.
  public static func of(_ name: String, among candidates: [String]) -> String? {
    var best: (name: String, edits: Int)?
    for candidate in candidates {
      guard let edits = edits(from: name.lowercased(), to: candidate.lowercased()) else { continue }
      let allowed = max(1, max(name.count, candidate.count) / 3)
      if edits <= allowed, edits < best?.edits ?? Int.max { best = (candidate, edits) }
    }
    return best?.name
  }

  /// Returns the optimal string alignment distance: the number of insertions, deletions, substitutions and swaps of neighbours.
  /// The result is nil if one of the names is longer than `lengthMax`.
  static func edits(from a: String, to b: String) -> Int? {
    let a = Array(a.unicodeScalars)
    let b = Array(b.unicodeScalars)
    guard a.count <= lengthMax, b.count <= lengthMax else { return nil }
    var rows = [[Int]](repeating: [Int](repeating: 0, count: b.count + 1), count: a.count + 1)
    for i in 0...a.count { rows[i][0] = i }
    for j in 0...b.count { rows[0][j] = j }
    guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
    for i in 1...a.count {
      for j in 1...b.count {
        let cost = a[i - 1] == b[j - 1] ? 0 : 1
        rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + cost)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
          rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
        }
      }
    }
    return rows[a.count][b.count]
  }
}
