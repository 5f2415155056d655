import Foundation
import Synchronization
import Testing

@testable import Console

@Suite("Threads that answer questions")
struct StoreReadersTests {
  /// Questions that are being answered until they are let go.
  private final class Held: Sendable {
    private let (begun, letGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    private let answered = Mutex<[String]>([])

    func question(of client: String) -> StoreReaders.Work {
      { [self] _ in
        begun.signal()
        letGo.wait()
        answered.withLock { $0.append(client) }
      }
    }

    func awaitBegun(_ count: Int) { for _ in 0..<count { begun.wait() } }

    /// Lets questions go.
    func letGo(_ count: Int) { for _ in 0..<count { letGo.signal() } }

    var clients: [String] { answered.withLock { $0 } }
  }

  @Test("the long questions of one client leave a thread for others, and each of them is answered")
  func share() throws {
    let sample = try PageSample(nil)
    let held = Held()
    let readers = StoreReaders(sample.context.settings, threads: 4, makeContext: sample.makeContext) { _ in }
    for _ in 0..<7 { try readers.submit(of: "a", held.question(of: "a")) }
    held.awaitBegun(3)
    let other = DispatchSemaphore(value: 0)
    for _ in 0..<3 {
      try readers.submit(of: "b") { _ in other.signal() }
      other.wait()
    }
    #expect(held.clients.isEmpty)
    // The others are begun as those before them end, also after the end of the readers was asked for.
    held.letGo(2)
    held.awaitBegun(2)
    readers.end()
    held.letGo(5)
    held.awaitBegun(2)
    #expect(!readers.resume { _ in })
  }
}
