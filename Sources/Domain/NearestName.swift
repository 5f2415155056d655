/// The name that somebody most likely meant.
public enum NearestName {
  /// Longer names are not compared: the table would be large, and nobody mistypes 64 characters by one.
  private static let lengthMax = 64

  /// The candidate with the fewest edits away from `name` (letter case counts for nothing), the first of equals; nil
  /// where none is closer than a third of its length.
  public static func of(_ name: String, among candidates: [String]) -> String? {
    var best: (name: String, edits: Int)?
    for candidate in candidates {
      guard let edits = edits(from: name.lowercased(), to: candidate.lowercased()) else { continue }
      let allowed = max(1, max(name.count, candidate.count) / 3)
      if edits <= allowed, edits < best?.edits ?? Int.max { best = (candidate, edits) }
    }
    return best?.name
  }

  /// Optimal string alignment distance: insertions, deletions, substitutions, swaps of neighbours. Nil for long names.
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
