/// The name that takes the fewest edits to reach, for error messages; the first one where several do.
func nearestName(to name: String, in names: [String]) -> String {
  let target = Array(name.utf8)
  var nearest = (name: "", edits: Int.max)
  for candidate in names {
    let edits = editDistance(target, Array(candidate.utf8))
    if edits < nearest.edits { nearest = (candidate, edits) }
  }
  return nearest.name
}

/// Levenshtein distance.
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  var row = Array(0...b.count)
  for i in a.indices {
    var diagonal = row[0]
    row[0] = i + 1
    for j in b.indices {
      let above = row[j + 1]
      row[j + 1] = min(min(above, row[j]) + 1, diagonal + (a[i] == b[j] ? 0 : 1))
      diagonal = above
    }
  }
  return row[b.count]
}
