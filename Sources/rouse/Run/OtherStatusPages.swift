import Console

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
    return zip(pages, StatusPage.ask(pages)).map { page, answer in
      switch answer {
      case .failure(let words): OtherProcess(address: page.address, answer: .failure(words))
      case .status(let status): OtherProcess(address: page.address, answer: .status(.init(status)))
      }
    }
  }
}

extension OtherProcess.ToldStatus {
  /// Tells what the page about health shows of a status.
  fileprivate init(_ status: ProcessStatus) {
    self.init(
      version: status.version, roles: status.roles, notReady: status.notReady, missing: status.missing,
      partitions: status.partitions.map { partition in
        PlannedPartition(
          number: partition.number, state: partition.state, devices: partition.devices,
          lagRecords: partition.lagRecords, restoredFrom: partition.restore?.source,
          restoreSeconds: partition.restore?.seconds, isRestoring: partition.restore?.isUnderWay ?? false)
      })
  }
}
