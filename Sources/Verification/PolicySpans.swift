import Domain
/// From which to which command each policy was seen in force, by log partition. Where policies take turns their spans
/// overlap.
struct PolicySpans {
  private struct Key: Hashable {
    var partition: Int64
    /// Hash of the policy.
    var policy: String
  }

  private var spans: [Key: (first: RecordId, last: RecordId)] = [:]

  /// A command was sent under a policy.
  mutating func note(_ policy: String, at id: RecordId) {
    let key = Key(partition: id.partition, policy: policy)
    guard let span = spans[key] else {
      spans[key] = (id, id)
      return
    }
    if RecordId.inLogOrder(id, span.first) { spans[key]?.first = id }
    if RecordId.inLogOrder(span.last, id) { spans[key]?.last = id }
  }

  /// Whether another policy may have been in force between two commands of one partition.
  func hasOther(than policy: String, between from: RecordId, and to: RecordId) -> Bool {
    spans.contains { key, span in
      key.partition == to.partition && key.policy != policy && RecordId.inLogOrder(span.first, to)
        && RecordId.inLogOrder(from, span.last)
    }
  }
}
