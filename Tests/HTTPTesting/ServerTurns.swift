/// The turns of the tests that run a server. They wait most of the time, so without turns the runner would start all of them at once, with
/// more than 1,500 open files. That is also too many for swift-corelibs-foundation: beyond 1,365, `Process.run()` of Swift 6.3 reads behind a
/// buffer and may crash (mended in later releases by its pull request 5472).
package actor ServerTurns {
  package static let shared = ServerTurns()

  private var free = 16
  private var waiting: [CheckedContinuation<Void, Never>] = []

  private func take() async {
    if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
  }

  private func give() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }

  /// Runs a test when fewer than 16 others run a server. A test must not take a second turn.
  nonisolated package func run(_ test: () async throws -> Void) async throws {
    await take()
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await test()) } catch { outcome = .failure(error) }
    await give()
    try outcome.get()
  }
}
