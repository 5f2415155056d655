import Auditing
import Backtesting
import Console
import Domain
import Installation
import Pipeline
import Serving

extension Settings {
  /// Returns the settings of the console; nil if the process does not have the role.
  ///
  /// - Parameter pipeline: The settings of the pipeline.
  /// - Throws: `ValidationError` or ``Failure`` when the settings contradict one another.
  func console(_ pipeline: PipelineSettings) throws -> ConsoleSettings? {
    guard roles.contains(.console) else { return nil }
    let text = textOrDefault(.consoleListen)
    guard let address = HTTPAddress(text) else {
      throw refusal(.consoleListen, "expected host:port such as 127.0.0.1:8090, found '\(text)'")
    }
    guard self.text(.consoleKeys) != nil || self.text(.oidcIssuer) != nil || address.isLoopback else {
      throw refusal(
        .consoleListen,
        "\(text) can be reached from other hosts, so the console needs keys: make a file with rouse keys create and name it with console.keys, let it take tokens with oidc.issuer, or listen on 127.0.0.1"
      )
    }
    if let own = ownConsoleView, let gateways = self.text(.gatewayDevicesView) {
      if own == gateways {
        throw refusal(
          .consoleDevicesView,
          "gateway.devicesView is the same file, which a gateway keeps; name another one, or leave console.devicesView out to read that"
        )
      }
      if roles.contains(.gateway) {
        throw refusal(
          .consoleDevicesView,
          "this process is the gateway, too, and the console reads its copy, gateway.devicesView; leave one of the two out"
        )
      }
    }
    var settings = ConsoleSettings(
      listen: address, storePath: textOrDefault(.auditStore), cluster: pipeline.cluster, state: .planner,
      objectives: { ObjectiveHindsight($0, share: $1, instancesMax: $2, changesMax: $3) })
    settings.others = try otherProcesses()
    settings.limits.connectionsMax = numberOrDefault(.consoleConnectionsMax)
    settings.readers = numberOrDefault(.consoleReaders)
    settings.accessLimits.ageMax = .hours(24 * Int64(numberOrDefault(.consoleAccessDays)))
    settings.accessLimits.recordsMax = numberOrDefault(.consoleAccessRecords)
    return settings
  }

  /// Returns the processes that the console asks; nil if it has no address.
  ///
  /// - Throws: `Failure` for a text that is no address.
  func otherProcesses() throws -> OtherStatusPages? {
    let addresses = list(.consoleProcesses)
    guard !addresses.isEmpty else { return nil }
    return OtherStatusPages(
      try addresses.map { address in
        guard let page = StatusPage(address) else {
          throw refusal(
            .consoleProcesses, "expected addresses such as planner-0:9464,planner-1:9464, found '\(address)'")
        }
        return page
      })
  }

  /// The path of the view of devices that the console keeps itself; nil if it keeps none.
  var ownConsoleView: String? { roles.contains(.console) ? text(.consoleDevicesView) : nil }

  /// The requests that each key, and each subject of tokens, may send a second; nil for any number.
  var consoleRate: Int? {
    let rate = numberOrDefault(.consoleRequestsPerSecond)
    return rate == 0 ? nil : rate
  }
}

/// The pages `/status` of other processes, as the console asks them.
struct OtherStatusPages: OtherProcesses {
  /// The pages, by the names that the settings have.
  let pages: [StatusPage]

  /// The most processes that are asked.
  /// - Beyond: the last addresses are not asked.
  static let processesMax = 500

  /// Names the pages.
  init(_ pages: [StatusPage]) { self.pages = pages }

  /// The pages of the addresses that the names have now, each once.
  var resolved: [StatusPage] {
    var known = Set<StatusPage>()
    return Array(pages.flatMap(\.resolved).filter { known.insert($0).inserted }.prefix(Self.processesMax))
  }

  func ask() -> [OtherProcess] {
    let pages = resolved
    return zip(pages, StatusPage.ask(pages)).map { OtherProcess(address: $0.address, answer: $1) }
  }
}
