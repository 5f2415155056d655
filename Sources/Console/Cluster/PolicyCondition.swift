import Domain
import Operating
import Serving

/// The policy that must be in force for another one to be applied, so that nobody takes back what a colleague applied meanwhile.
struct PolicyCondition: Sendable, Equatable {
  /// The header `If-Match`, whose tags are hashes of policies; nil if it was not sent.
  var ifMatch: String?
  /// The header `If-None-Match`; nil if it was not sent.
  var ifNoneMatch: String?

  /// Makes the condition of a request; nil if it has none.
  ///
  /// - Parameter head: The head of the request.
  init?(_ head: HTTPHead) {
    (ifMatch, ifNoneMatch) = (head.list("if-match"), head.list("if-none-match"))
    if ifMatch == nil, ifNoneMatch == nil { return nil }
  }

  /// Makes the condition that just one policy is in force.
  ///
  /// - Parameter hash: The hash of the policy; empty for none.
  init(hash: String) {
    if hash.isEmpty { ifNoneMatch = "*" } else { ifMatch = EntityTag(hash).text }
  }

  /// Returns the tag of a policy; nil for one that this release does not accept.
  static func tag(of record: PolicyLog.PolicyRecord) -> EntityTag? { record.reference.map { EntityTag($0.hash.text) } }

  /// Refuses another policy than the one of the condition.
  ///
  /// - Parameter record: The newest policy of the log; nil if there is none.
  /// - Throws: `Problem` that names the policy in force.
  func check(_ record: PolicyLog.PolicyRecord?) throws(Problem) {
    let tag = record.flatMap { Self.tag(of: $0) }
    let isWanted =
      (ifMatch.map { EntityTag.names($0, tag, isWeak: false) } ?? true)
      && !(ifNoneMatch.map { EntityTag.names($0, tag, isWeak: true) } ?? false)
    guard !isWanted else { return }
    let inForce =
      record.map { record in
        guard let reference = record.reference else { return "a policy that this release does not accept is in force" }
        return "\(reference.version) (\(reference.hash)) is in force"
          + (record.appliedBy.map { ", applied by \($0)" } ?? "")
      } ?? "no policy is in force"
    throw Problem(
      .preconditionFailed,
      "the policy was not applied: \(inForce), and not the one that it was to replace; check it again")
  }
}
