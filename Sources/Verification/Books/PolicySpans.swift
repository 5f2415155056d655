import Domain

/// The first and the last command under each policy, by log partition. The spans of two policies overlap if one was
/// replaced and later applied again.
struct PolicySpans {
  private struct Key: Hashable {
    var partition: Int64
    /// The hash of the policy.
    var policy: Identifier
  }

  private var spans: [Key: (first: RecordId, last: RecordId)] = [:]

  /// Notes that a command was sent under a policy. Commands may come in any order.
  /// - Parameters:
  ///   - policy: the hash of the policy.
  ///   - id: the id of the command.
  mutating func note(_ policy: Identifier, at id: RecordId) {
    let key = Key(partition: id.partition, policy: policy)
    guard let span = spans[key] else {
      spans[key] = (id, id)
      return
    }
    if RecordId.inLogOrder(id, span.first) { spans[key]?.first = id }
    if RecordId.inLogOrder(span.last, id) { spans[key]?.last = id }
  }

  /// Whether another policy may have been in force between two commands of one partition.
  /// - Parameters:
  ///   - policy: the hash of the policy of both commands.
  ///   - from: the id of the earlier command.
  ///   - to: the id of the later command.
  func hasOther(than policy: Identifier, between from: RecordId, and to: RecordId) -> Bool {
    spans.contains { key, span in
      key.partition == to.partition && key.policy != policy && RecordId.inLogOrder(span.first, to)
        && RecordId.inLogOrder(from, span.last)
    }
  }

  /// Stops a debug build unless each span lies in its partition and does not end before it begins.
  func checkInvariants() {
    for (key, span) in spans {
      assert(
        span.first.partition == key.partition && span.last.partition == key.partition, "a span lies in its partition")
      assert(!RecordId.inLogOrder(span.last, span.first), "a span does not end before it begins")
    }
  }
}
