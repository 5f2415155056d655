import Domain
import Policies

extension Planner {
  /// Applies a policy record. A document that cannot be read, for example because a newer version wrote it, changes nothing.
  mutating func activate(document: String) {
    do throws(PolicyError) {
      activate(try PolicyDocument(record: document, file: "rouse.log").policy, document: document)
    } catch {
      rules.note(refused: error)
    }
  }

  /// Puts another policy in force. Waiting causes stay and are weighed by it, and spent tokens stay spent.
  mutating func activate(_ policy: Policy, document: String? = nil) {
    use(policy)
    pricing.touchKinds()
    rules.note(offset: record.offset, document: document)
    journal.notePolicy()
  }

  /// Copies the figures of a policy into the parts that use them.
  mutating func use(_ policy: Policy) {
    for (kind, numbers) in rules.use(policy) { pricing.configure(kind, numbers) }
    ledgers.use(policy.profile)
    let (rules, partition, partitionCount) = (rules, partition, partitionCount)
    ledgers.apps.setLimits { rules.appLimit($0, partition: partition, of: partitionCount) }
  }
}
