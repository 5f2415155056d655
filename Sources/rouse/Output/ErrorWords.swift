import Domain
import KafkaClient
import Policies

/// The words about an error that ended a running command.
struct ErrorWords {
  /// The lines before the last one: the problems of a policy, each in the format of compilers, so that editors find the place.
  private(set) var details: [PrintableText] = []
  /// The last line, without the name of the program.
  let text: PrintableText

  /// Finds the words for an error.
  init(_ error: any Error) {
    if let policy = error as? PolicyError {
      details = policy.problems.map { "\($0)" }
      text = "the policy cannot be used; `rouse policy check` shows the same"
    } else if let kafka = error as? KafkaError, kafka.code == .unknownTopicOrPartition {
      text = "\(kafka); is topics.prefix right? `rouse topics create` makes what is missing"
    } else if let kafka = error as? KafkaError, kafka.code.refusesPrincipal {
      text = "\(kafka); `rouse topics acls` prints the permissions that each role needs"
    } else {
      text = "\(error)"
    }
  }

  /// All of it on one line.
  var line: PrintableText { (details + [text]).joined(separator: "; ") }
}

/// The reason why a command failed, written for its user. The exit code is 1.
struct Failure: Error, CustomStringConvertible {
  /// The reason in lower case, with a remedy if there is one.
  var description: String
  init(_ description: String) { self.description = description }
}
