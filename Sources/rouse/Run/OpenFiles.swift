import Glibc
import Installation
import Pipeline
import Serving

/// The open files that a process may have, and the connections of its servers for which they suffice.
///
/// A process without a free descriptor can neither reach its brokers nor open its stores. So the connections of strangers are bounded by the
/// limit of the system less a reserve for everything else.
struct OpenFiles {
  /// The limit of the system on the open files of the process.
  let limit: Int
  /// The files that the process may have open beside the connections of its servers.
  let reserve: Int
  /// The largest number of connections to the pages for machines; 0 without these.
  let pageConnections: Int
  /// The largest number of connections of the gateway; 0 without that role.
  let gatewayConnections: Int
  /// The largest number of connections of the console; 0 without that role.
  let consoleConnections: Int

  /// The least number of connections with which a server is of use.
  private static let connectionsMin = 16
  /// The brokers of a cluster that has not told their number.
  private static let brokersAssumed = 3
  /// The files of a process without any role: its program, its log, its event loop, files that are read now and then, exported traces.
  private static let plainFiles = 40
  /// The clients of Kafka of each thread or role, those among them that live for one question only.
  private static let clients: [Role: Int] = [.planner: 4, .intake: 3, .audit: 2, .gateway: 1, .console: 8]
  /// The other files of each thread or role: stores with their logs, snapshots, event loops.
  private static let files: [Role: Int] = [.planner: 6, .intake: 0, .audit: 12, .gateway: 24, .console: 24]
  /// The clients and files of a copy of the registrations.
  private static let view = (clients: 2, files: 12)
  /// The files of a thread that reads the audit store, or of one of an HTTP server.
  private static let threadFiles = 6

  /// Raises the limit of the process as far as the system allows without asking an administrator.
  ///
  /// - Returns: The limit that is in force then.
  static func raiseLimit() -> Int {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    // The structure lives for the call.
    guard unsafe getrlimit(resource, &limit) == 0 else { return .max }
    if limit.rlim_cur < limit.rlim_max {
      var raised = limit
      raised.rlim_cur = raised.rlim_max
      // The structure lives for the call.
      if unsafe setrlimit(resource, &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }

  /// Divides the open files of a process.
  ///
  /// - Parameters:
  ///   - limit: The limit of the system.
  ///   - settings: The settings of the process.
  ///   - cluster: The number of brokers, and the connections that the pages for machines have already; nil while the cluster is not known.
  /// - Throws: `Failure` that says what to do if the limit is too low.
  init(limit: Int, _ settings: Settings, cluster: (brokers: Int, pageConnections: Int)? = nil) throws(Failure) {
    self.limit = limit
    let roles = settings.roles
    reserve = Self.reserve(settings, cluster?.brokers)
    let wanted = [
      settings.textOrDefault(.httpListen) == MachineServer.off
        ? 0 : cluster?.pageConnections ?? HTTPListener.connectionsMax,
      roles.contains(.gateway) ? settings.numberOrDefault(.gatewayConnectionsMax) : 0,
      roles.contains(.console) ? settings.numberOrDefault(.consoleConnectionsMax) : 0,
    ]
    var least = wanted.map { min($0, Self.connectionsMin) }
    if cluster != nil { least[0] = wanted[0] }
    guard let shares = Self.shares(of: limit - reserve, wanted, least) else {
      let needed = reserve + least.map(Self.descriptors(ofServer:)).reduce(0, +)
      throw Failure(
        "the limit on open files of this process is \(limit), and with these roles it needs \(needed) for its brokers, stores and connections; raise the hard limit, as with ulimit -Hn \(Self.rounded(needed)), LimitNOFILE=\(Self.rounded(needed)) of systemd or --ulimit nofile=\(Self.rounded(needed)) of a container"
      )
    }
    (pageConnections, gatewayConnections, consoleConnections) = (shares[0], shares[1], shares[2])
  }

  /// Whether a server gets fewer connections than its setting allows.
  func isReduced(_ settings: Settings) -> Bool {
    let roles = settings.roles
    return roles.contains(.gateway) && gatewayConnections < settings.numberOrDefault(.gatewayConnectionsMax)
      || roles.contains(.console) && consoleConnections < settings.numberOrDefault(.consoleConnectionsMax)
  }

  /// Returns the files beside the connections of servers.
  private static func reserve(_ settings: Settings, _ brokers: Int?) -> Int {
    let bootstrap = (settings.text(.bootstrapServers) ?? "").split(separator: ",").count
    let ofClient = descriptors(brokers: brokers ?? max(brokersAssumed, bootstrap), bootstrap: bootstrap)
    let counts: [Role: Int] = [.planner: settings.plannerWorkers, .intake: settings.intakeThreads]
    var sum = plainFiles
    for role in settings.roles {
      let count = counts[role, default: 1]
      sum += count * (clients[role, default: 0] * ofClient + files[role, default: 0])
    }
    if settings.roles.contains(.console) { sum += threadFiles * settings.numberOrDefault(.consoleReaders) }
    if settings.roles.contains(.gateway) { sum += threadFiles * settings.numberOrDefault(.gatewayThreads) }
    if settings.storage.devices != nil { sum += view.clients * ofClient + view.files }
    return sum
  }

  /// Returns the most descriptors that one client of Kafka holds: a socket, and a pipe that wakes its thread, for each broker, for each address
  /// that it asks first, and for the two coordinators (librdkafka's `rd_kafka_broker_add`); and a pipe of its own.
  private static func descriptors(brokers: Int, bootstrap: Int) -> Int { 3 * (brokers + bootstrap + 2) + 2 }

  /// Returns the descriptors of a server with a number of connections; 0 for none.
  private static func descriptors(ofServer connections: Int) -> Int {
    connections > 0 ? HTTPServerLimits.descriptors(connections: connections) : 0
  }

  /// Divides descriptors among servers: as many connections as they want, or the least and a part of the rest in proportion.
  ///
  /// - Returns: The connections of each server; nil if they do not suffice for the least.
  private static func shares(of all: Int, _ wanted: [Int], _ least: [Int]) -> [Int]? {
    let rest = all - least.map(descriptors(ofServer:)).reduce(0, +)
    guard rest >= 0 else { return nil }
    let more = zip(wanted, least).map { $0 - $1 }
    let sum = more.reduce(0, +)
    guard sum > rest else { return wanted }
    return zip(least, more).map { least, more in least + more * rest / sum }
  }

  /// Returns a limit with room for some connections: a power of two.
  private static func rounded(_ needed: Int) -> Int {
    var limit = 1024
    while limit < 2 * needed { limit *= 2 }
    return limit
  }
}
