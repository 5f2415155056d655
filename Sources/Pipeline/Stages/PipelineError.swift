import Domain
public import KafkaClient

/// Why a stage cannot go on.
public enum PipelineError: Error, Sendable {
  case kafka(KafkaError)
  /// Records of the log or of the state that this release cannot read.
  case unreadable(place: String, reason: String)
  /// The configuration does not fit the cluster.
  case setup(String)

  /// Whether starting the stage anew may help.
  public var isWorthRetrying: Bool {
    switch self {
    // A topic that is missing is made by a person.
    case .kafka(let error):
      !(error.code == .unknownTopicOrPartition && error.isFatal) && error.code != .topicAuthorizationFailed
    case .unreadable, .setup: false
    }
  }
}

extension PipelineError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .kafka(let error) where error.code == .fenced:
      "if this comes again and again, another process has the same `instance`: give each its own; \(error.description)"
    case .kafka(let error): error.description
    case .unreadable(let place, let reason): "\(place): \(reason)"
    case .setup(let text): text
    }
  }
}
