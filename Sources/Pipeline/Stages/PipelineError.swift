import Domain
public import KafkaClient

/// The reason why a stage cannot continue.
public enum PipelineError: Error, Sendable, Equatable {
  /// A call to Kafka failed.
  case kafka(KafkaError)
  /// Records of the log or of the state cannot be read by this release.
  case unreadable(place: String, reason: String)
  /// The settings do not fit the cluster or the machine.
  case setup(String)
  /// The audit store cannot be used until a person mends or moves it.
  case store(String)

  /// Whether restarting the stage may help.
  public var isWorthRetrying: Bool {
    switch self {
    // Only a person makes a topic that is missing, or gives a permission.
    case .kafka(let error):
      !(error.code == .unknownTopicOrPartition && error.isFatal) && !error.code.refusesPrincipal && !isReplaced
    case .unreadable, .setup, .store: false
    }
  }

  /// Whether another process has joined the group under the name of this one, and so has taken its place.
  public var isReplaced: Bool {
    if case .kafka(let error) = self { error.code == .fencedInstance } else { false }
  }

  /// Runs a call to Kafka and turns its error into a `PipelineError`.
  ///
  /// - Parameter call: The call.
  /// - Returns: The result of the call.
  /// - Throws: `PipelineError.kafka` with the error of the call.
  static func ofKafka<Result>(_ call: () throws(KafkaError) -> Result) throws(PipelineError) -> Result {
    do throws(KafkaError) { return try call() } catch { throw .kafka(error) }
  }
}

extension PipelineError: CustomStringConvertible {
  /// One lower-case sentence for an operator.
  public var description: String {
    switch self {
    case .kafka(let error) where error.code == .fencedInstance:
      "another process has started with the same `instance` and has taken the place of this one: give each process its own; \(error.description)"
    case .kafka(let error) where error.code == .fenced:
      "if this repeats, another process has the same `instance`: give each process its own; \(error.description)"
    case .kafka(let error) where error.code.refusesTime:
      "the broker refuses the time of this process: set the clock of its machine; \(error.description)"
    case .kafka(let error) where error.code.refusesPrincipal:
      "\(error.description); `rouse topics acls` prints the permissions that each role needs"
    case .kafka(let error): error.description
    case .unreadable(let place, let reason): "\(place): \(reason)"
    case .setup(let text), .store(let text): text
    }
  }
}
