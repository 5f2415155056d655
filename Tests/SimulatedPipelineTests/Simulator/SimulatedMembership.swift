@testable import Installation
@testable import Pipeline

/// A member's place in a group, as its consumer knew it at the time of the call.
final class SimulatedMembership: GroupMembership {
  let group: String
  let member: String
  let generation: Int32

  init(group: String, member: String, generation: Int32) {
    self.group = group
    self.member = member
    self.generation = generation
  }
}
