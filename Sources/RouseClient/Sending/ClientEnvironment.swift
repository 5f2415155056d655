import Foundation

/// The clock and the randomness of a client.
struct ClientEnvironment: Sendable {
  /// The wall clock.
  var now: @Sendable () -> Date
  /// Waits. Ends with `CancellationError` when its task is cancelled.
  var sleep: @Sendable (Duration) async throws -> Void
  /// Returns a number of [0, 1).
  var random: @Sendable () -> Double

  /// Those of the system.
  static let system = ClientEnvironment(
    now: { Date() }, sleep: { try await Task.sleep(for: $0) }, random: { Double.random(in: 0..<1) })
}
