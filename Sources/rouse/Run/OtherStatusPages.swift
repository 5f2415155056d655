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
    return zip(pages, StatusPage.ask(pages)).map { OtherProcess(address: $0.address, answer: $1) }
  }
}
