import Domain
import Policies

extension Planner {
  /// Takes over a policy record. One that does not parse (a newer version wrote it) changes nothing.
  mutating func activate(document: String) {
    do throws(PolicyError) {
      activate(try PolicyDocument(yaml: document, file: "rouse.log").policy, document: document)
    } catch {
      rules.note(refused: error)
    }
  }

  /// Puts another policy in force. What is pending stays and is weighed by it; what was spent stays spent.
  mutating func activate(_ policy: Policy, document: String? = nil) {
    use(policy)
    pricing.touchKinds()
    rules.note(offset: record.offset, document: document)
    journal.notePolicy()
  }

  /// Takes over a policy's numbers.
  mutating func use(_ policy: Policy) {
    for (kind, numbers) in rules.use(policy) { pricing.configure(kind, numbers) }
    ledgers.use(policy.profile)
    let (rules, partition, partitionCount) = (rules, partition, partitionCount)
    ledgers.setAppLimits { rules.appLimit($0, partition: partition, of: partitionCount) }
  }
}
