public import LineFiles

/// The reason why no fleet can be made. Lines of the event file that cannot be used are no errors; `FleetSubjects.skipped`
/// counts them.
public enum FleetError: Error, Equatable, Sendable {
  /// A file cannot be read.
  case file(LineFileError)
  /// The value of `--kinds` or a template file is wrong. `place` names which, `problem` says what was expected.
  case template(place: String, problem: String)
  /// The events lack the subjects that the fleet needs.
  case subjects(problem: String)
  /// An option has a value out of bounds.
  case option(name: String, problem: String)
}

extension FleetError: CustomStringConvertible {
  /// The place and the problem, for people.
  public var description: String {
    switch self {
    case .file(let error): error.description
    case .template(let place, let problem): "\(place): \(problem)"
    case .subjects(let problem): problem
    case .option(let name, let problem): "\(name): \(problem)"
    }
  }
}
