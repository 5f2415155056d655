import Auditing
import Domain
import Installation
import Operating
import Pipeline

/// The facts that the checks of `rouse doctor` judge. They are gathered once, by `DoctorProbe`, or made up by tests.
struct DoctorFacts: Sendable {
  /// The options by which the command was given its settings, such as `--config rouse.yaml`, for advice.
  var options = ""
  /// The roles of the settings.
  var roles = Set(Role.defaults)
  /// The names of Rouse's own topics.
  var names = TopicNames()
  /// The topics with domain events.
  var eventTopics = ["events"]
  /// The wall clock, in µs since 1970.
  var now: Int64 = 0
  var settings = SettingsFacts()
  /// The words about the failure to reach a broker; nil if one answered, or none was asked.
  var brokerFailure: String?
  /// The facts that the cluster told; nil if it was not asked, or did not answer.
  var cluster: ClusterFacts?
  var processes: [ProcessFacts] = []
  /// The audit store; nil without the role audit.
  var store: StoreFacts?
  var storages: [StorageFacts] = []

  /// The facts about the settings and their files.
  struct SettingsFacts: Sendable {
    /// The words about the refusal of the settings; nil if they are accepted.
    var refusal: String?
    /// The words about each file with a secret that cannot be used.
    var unreadable: [String] = []
    /// The paths of files with secrets that other users can read.
    var open: [String] = []
    /// The properties of librdkafka that have no effect.
    var unused: [String] = []
    /// The words about what keeps the gateway and the console from checking tokens.
    var tokenFaults: [String] = []
    /// The policy file of the settings; nil if none is set.
    var policy: PolicyFacts?
  }

  /// The facts about the policy file of the settings.
  struct PolicyFacts: Sendable {
    /// The path of the file.
    var path: String
    /// The policy; nil if the file cannot be used.
    var reference: PolicyReference?
    /// The first words about the failure; empty if the file can be used.
    var failure = ""
  }

  /// The facts about a running process.
  struct ProcessFacts: Sendable {
    /// The address that was asked.
    var address: String
    /// Whether the user named the address, and not only the settings.
    var isNamed: Bool
    /// The answer, or the words about the failure.
    var answer: ProcessStatus.StatusAnswer

    /// The status; nil without an answer.
    var status: ProcessStatus? {
      if case .status(let status) = answer { status } else { nil }
    }
  }

  /// The facts about the audit store.
  struct StoreFacts: Sendable {
    /// The path of the store.
    var path: String
    /// The outcome of opening it.
    var content: Content
    /// The largest size by the settings. Bytes.
    var bytesMax: Int64 = .max
    /// The age at which decisions are removed, in days.
    var daysMax = 30

    /// The outcome of opening a store.
    enum Content: Sendable {
      case missing
      case failure(String)
      case open(StoreContent)
    }
  }

  /// The facts that a store tells.
  struct StoreContent: Sendable {
    /// The positions of the partitions.
    var positions: [AuditPosition] = []
    /// The holes, at most `AuditHole.listedMax`.
    var holes: [AuditHole] = []
    /// The number of records of all holes.
    var recordsMissing = 0
    /// The time of the oldest and of the newest record, in µs since 1970; nil in an empty store.
    var times: ClosedRange<Int64>?
    /// The bytes of the file that are in use.
    var bytes: Int64 = 0
    /// Whether other users can read the file.
    var isOpen = false
  }

  /// The facts about a place where a process keeps files.
  struct StorageFacts: Sendable {
    /// The sorts of places.
    enum Kind: String, Sendable {
      case store = "audit store", snapshots, devices = "view of devices", access = "access records"
    }

    /// The sort of place.
    var kind: Kind
    /// The path: of the file, or of the folder of snapshots.
    var path: String
    /// The room of its file system; nil if the system does not tell.
    var room: FileSystemRoom?
    /// Whether this user may write to the folder, and to the file if it exists.
    var isWritable = true
    /// Whether other users can read the file, or look into the folder.
    var isOpen = false
    /// The size of the largest snapshot. Bytes.
    var largestFile: Int64 = 0
  }
}
