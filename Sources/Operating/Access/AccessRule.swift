import Installation

/// Permission for some operations on one resource of the cluster.
package struct AccessRule: Hashable, Sendable {
  /// The kinds of resources, as Kafka's access control lists name them.
  package enum ResourceKind: String, CaseIterable, Sendable {
    case topic = "Topic"
    case group = "Group"
    case transactionalID = "TransactionalId"
  }

  /// A resource: one name, or all names with a prefix.
  package struct Resource: Hashable, Sendable {
    /// The kind of the resource.
    package let kind: ResourceKind
    /// The name or the prefix.
    package let name: String
    /// Whether the name is a prefix.
    package let isPrefix: Bool

    /// Names a resource.
    ///
    /// - Parameters:
    ///   - kind: The kind of the resource.
    ///   - name: The name or the prefix.
    ///   - isPrefix: Whether the name is a prefix.
    package init(_ kind: ResourceKind, _ name: String, isPrefix: Bool = false) {
      self.kind = kind
      self.name = name
      self.isPrefix = isPrefix
    }

    /// Whether this resource is or holds another one.
    ///
    /// - Parameter other: A resource with a whole name.
    package func holds(_ other: Resource) -> Bool {
      kind == other.kind && (isPrefix ? other.name.hasPrefix(name) : other.name == name)
    }
  }

  /// The operations of Kafka's access control lists. `read` and `write` include `describe`.
  package enum Operation: String, CaseIterable, Comparable, Sendable {
    case read = "Read"
    case write = "Write"
    case create = "Create"
    case describe = "Describe"
    case describeConfigs = "DescribeConfigs"

    /// Orders operations as they are printed.
    package static func < (left: Operation, right: Operation) -> Bool {
      (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
  }

  package var resource: Resource
  /// The operations. `describe` is left out beside an operation that includes it.
  package var operations: Set<Operation>
  /// The reason, as a clause for people.
  package var purpose: String

  /// Makes a rule.
  ///
  /// - Parameters:
  ///   - resource: The resource.
  ///   - operations: The operations.
  ///   - purpose: The reason, as a clause for people.
  package init(_ resource: Resource, _ operations: Set<Operation>, _ purpose: String) {
    self.resource = resource
    self.operations = Self.reduced(operations)
    self.purpose = purpose
  }

  /// Returns operations without `describe` if another one includes it.
  ///
  /// - Parameter operations: The operations.
  package static func reduced(_ operations: Set<Operation>) -> Set<Operation> {
    operations.isDisjoint(with: [.read, .write]) ? operations : operations.subtracting([.describe])
  }
}

/// The parts that work with the cluster, each with the permissions that it needs and no more.
package enum AccessRole: String, CaseIterable, Sendable {
  /// A process with this role of `rouse run`.
  case intake, planner, audit, gateway, console
  /// `rouse topics create`.
  case create
  /// `rouse topics check`.
  case check
  /// `rouse policy apply`.
  case policy
  /// `rouse dead-letters list` and `rouse dead-letters show`.
  case deadLetters = "dead-letters"
  /// `rouse dead-letters replay`.
  case replay
  /// `rouse skip`.
  case skip
  /// `rouse verify` on the topics.
  case verify
  /// `rouse log export`.
  case export
  /// The data teams' programs.
  case publisher
  /// The app backend.
  case backend
  /// The program that sends the commands to APNs.
  case sender

  /// The program or command that takes the role, for people.
  package var user: String {
    switch self {
    case .intake, .planner, .audit, .gateway, .console: "`rouse run` with the role `\(rawValue)`"
    case .create: "`rouse topics create`"
    case .check: "`rouse topics check`"
    case .policy: "`rouse policy apply`"
    case .deadLetters: "`rouse dead-letters list`, `rouse dead-letters show`"
    case .replay: "`rouse dead-letters replay`"
    case .skip: "`rouse skip`"
    case .verify: "`rouse verify`"
    case .export: "`rouse log export`"
    case .publisher: "the data teams' programs"
    case .backend: "the app backend"
    case .sender: "the sender"
    }
  }
}
