/// The names of consumer groups and of transactional ids, all with the prefix `group`.
///
/// Consumers that only ask the broker use the group of the role that they belong to. So a role needs permission for few
/// groups.
extension ClusterSettings {
  /// The group whose members are intake threads.
  package var intakeGroup: String { "\(group)-intake" }
  /// The group whose members are planner threads.
  package var plannerGroup: String { "\(group)-planner" }
  /// The group of the gateway's view of the registrations, which has no members: the view knows the positions.
  public var gatewayGroup: String { "\(group)-gateway" }
  /// The group of the audit feed, which has no members: the store knows the positions.
  package var auditGroup: String { "\(group)-audit" }
  /// The group of commands that read topics, and of a console's own view of devices, which has no members and no offsets.
  package var readerGroup: String { "\(group)-reader" }
  /// The group whose committed offsets are operators' orders to pass over records. It has no members.
  package var skipGroup: String { "\(group)-skips" }
  /// The prefix of the transactional ids of planner threads. The name of the process and the number of the thread follow.
  package var plannerIDPrefix: String { "\(plannerGroup)-" }
  /// The transactional id of `rouse dead-letters replay`.
  package var replayID: String { "\(group)-replay" }
}
