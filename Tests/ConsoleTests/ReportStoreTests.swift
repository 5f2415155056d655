import Domain
import Foundation
import Logging
import Testing

@testable import Console

@Suite("The store of reports") struct ReportStoreTests {
  /// A folder that is removed with the test.
  private final class Place {
    let folder = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID().uuidString)")
    var store: String { folder.appending(path: "audit.sqlite").path }
    var reports: String { ReportStore.path(besides: store) }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: folder) }

    func store(bytesMax: Int = 1000) -> ReportStore {
      ReportStore(path: reports, bytesMax: bytesMax, logger: RunningConsole.silent)
    }

    func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: reports) }
  }

  private static func report(_ name: String) -> String { #"{"kinds":[],"policies":[{"name":"\#(name)"}]}"# }
  private static func time(_ seconds: Int) -> Timestamp {
    Timestamp(microseconds: 1_800_000_000_000_000) + .seconds(Int64(seconds))
  }

  @Test("reports outlive the console, with their names, times and policies, for their owner alone")
  func restart() throws {
    let place = try Place()
    let store = place.store()
    #expect(!FileManager.default.fileExists(atPath: place.reports))
    let names = (0..<3).map { store.add(Self.report("p\($0)"), policies: ["p\($0)"], at: Self.time($0)) }
    let next = place.store()
    #expect(next.all.map(\.name) == names.reversed() && next.all.map(\.policies) == [["p2"], ["p1"], ["p0"]])
    #expect(next.all.map(\.at) == [2, 1, 0].map(Self.time) && next.all[0].text == Self.report("p2"))
    #expect(next[names[1]]?.text == Self.report("p1") && next["0123456789abcdef"] == nil && next["../audit"] == nil)
    // A report that is given again becomes the newest one.
    _ = next.add(Self.report("p0"), policies: ["p0"], at: Self.time(9))
    #expect(place.store().all.first?.name == names[0] && place.store().all.first?.at == Self.time(9))
    for path in [place.reports] + (try place.files().map { place.reports + "/" + $0 }) {
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect((mode ?? 0o777) & 0o077 == 0, "\(path)")
    }
  }

  @Test("the oldest leave memory and folder, and a console finds what another one of the store has kept")
  func bounds() throws {
    let place = try Place()
    let (one, other) = (place.store(), place.store())
    let names = (0..<2 * ReportStore.reportsMax).map { n in
      (n % 2 == 0 ? one : other).add(Self.report("p\(n)"), policies: [], at: Self.time(n))
    }
    #expect(try place.files().count == ReportStore.reportsMax)
    #expect(one.all.count == ReportStore.reportsMax && one[names.last ?? ""] != nil)
    #expect(place.store().all.map(\.name) == Array(names.suffix(ReportStore.reportsMax).reversed()))
    #expect(place.store()[names[0]] == nil)
  }

  @Test(
    "a file that was altered, is no report or is too large is not shown; a folder that cannot be written costs the files only"
  )
  func damage() throws {
    let place = try Place()
    let name = place.store().add(Self.report("p"), policies: ["p"], at: Self.time(0))
    let file = place.reports + "/\(name).json"
    #expect(place.store(bytesMax: 10).all.isEmpty)
    try Data("{".utf8).write(to: URL(fileURLWithPath: file))
    #expect(place.store().all.isEmpty && place.store()[name] == nil)
    try FileManager.default.removeItem(atPath: place.reports)
    // A file where the folder should be.
    try Data().write(to: URL(fileURLWithPath: place.reports))
    let store = place.store()
    let kept = store.add(Self.report("p"), policies: ["p"], at: Self.time(0))
    #expect(store[kept]?.text == Self.report("p") && place.store().all.isEmpty)
  }
}
