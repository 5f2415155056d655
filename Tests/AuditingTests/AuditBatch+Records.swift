import Auditing
import Domain

extension AuditBatch {
  /// A batch of records without positions.
  init(_ decisions: [Decision], _ commands: [Command] = []) {
    self.init()
    for decision in decisions { append(decision) }
    for command in commands { append(command) }
  }
}
