public import Domain

/// A role with its bounds, as a key has it, or as a token gives it.
public struct RoleGrant: Sendable, Equatable {
  public var role: KeyRole
  /// The prefixes of the sources whose events a publisher may send; any source if there are none.
  public var sources: [String]
  /// The types of the events that a publisher may send; any type if there are none.
  public var types: [String]
  /// The prefixes of the subjects of the events that a publisher may send; any subject if there are none.
  public var subjects: [String]
  /// The apps whose devices a registrar may register, or a sender may report of; any app if there are none.
  public var apps: [String]

  /// Makes a grant.
  ///
  /// - Parameters:
  ///   - role: The role.
  ///   - sources: The prefixes of sources.
  ///   - types: The types of events.
  ///   - subjects: The prefixes of subjects.
  ///   - apps: The apps.
  public init(
    _ role: KeyRole, sources: [String] = [], types: [String] = [], subjects: [String] = [], apps: [String] = []
  ) {
    self.role = role
    self.sources = sources
    self.types = types
    self.subjects = subjects
    self.apps = apps
  }
}

extension RoleGrant {
  /// Whether a publisher may send events of a source.
  ///
  /// - Parameter source: The source.
  public func allows(source: Identifier) -> Bool {
    sources.isEmpty || sources.contains { source.hasPrefix(Identifier($0)) }
  }

  /// Whether a publisher may send events of a type.
  ///
  /// - Parameter type: The type.
  public func allows(type: Identifier) -> Bool { types.isEmpty || types.contains { Identifier($0) == type } }

  /// Whether a publisher may send events about a subject.
  ///
  /// - Parameter subject: The subject.
  public func allows(subject: Identifier) -> Bool {
    subjects.isEmpty || subjects.contains { subject.hasPrefix(Identifier($0)) }
  }

  /// Whether a registrar or a sender may write about devices of an app.
  ///
  /// - Parameter app: The app.
  public func allows(app: Identifier) -> Bool { apps.isEmpty || apps.contains { Identifier($0) == app } }
}

extension AccessKey {
  /// The role of the key with its bounds.
  public var grant: RoleGrant { RoleGrant(role, sources: sources, types: types, subjects: subjects, apps: apps) }
}

/// The things that the holder of a key may do.
public enum KeyRole: String, Sendable, CaseIterable {
  /// May publish events.
  case publisher
  /// May register devices, and send their signals, but not what became of a command.
  case registrar
  /// May send what became of a command, and which tokens APNs refused.
  case sender
  /// May ask questions.
  case auditor
  /// May ask questions, change policies and replay dead letters.
  case `operator`

  /// Whether a key of the role can be bound to apps.
  public var isBoundToApps: Bool { self == .registrar || self == .sender }
}
