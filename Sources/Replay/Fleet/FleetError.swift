public import LineFiles

/// Why no fleet can be made. Bad lines of the event file are no errors: they are counted in `FleetSubjects.skipped`.
public enum FleetError: Error, Equatable, Sendable {
  case file(LineFileError)
  /// `--kinds`, or a template file: where, and what was expected.
  case template(place: String, problem: String)
  /// The events do not have what the fleet needs.
  case subjects(problem: String)
  /// A number that cannot be.
  case option(name: String, problem: String)
}

extension FleetError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .file(let error): error.description
    case .template(let place, let problem): "\(place): \(problem)"
    case .subjects(let problem): problem
    case .option(let name, let problem): "\(name): \(problem)"
    }
  }
}
