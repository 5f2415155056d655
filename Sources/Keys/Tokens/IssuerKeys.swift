public import Domain
import LineFiles
public import Logging
import Observing
import Synchronization

/// The public keys of an issuer, from a file or from its address. May be used from any thread.
///
///     none ──read──► in force ──changed──► in force ──cannot be read──► in force, with a fault ──read──► in force
///
/// A file is read again when it has changed. An address is asked every five minutes, and soon after a token has named a key that is not there,
/// but never twice within 30 seconds. Keys that cannot be read leave those from before in force.
public final class IssuerKeys: Sendable {
  /// The place of the keys.
  public enum KeyOrigin: Sendable {
    /// A file with a JSON Web Key Set.
    case file(String)
    /// An address, and the closure that asks it. It blocks, with a time limit of its own.
    case address(String, ask: @Sendable () throws(IssuerKeysError) -> [UInt8])

    /// The path or the address.
    var text: String {
      switch self {
      case .file(let path): path
      case .address(let address, _): address
      }
    }
  }

  /// The state of the keys, for the status of the process.
  public struct Status: Sendable, Equatable {
    /// The number of keys that can check a signature.
    public var keysCount = 0
    /// The time when they were read, or found unchanged; nil if they never were.
    public var readAt: Timestamp?
    /// The reason why they could not be read the last time; nil if they could.
    public var fault: String?
  }

  private struct State {
    var set: IssuerKeySet?
    var bytes: [UInt8] = []
    var mark: FileMark?
    var status = Status()
    var askedAt: ContinuousClock.Instant?
    var dueAt: ContinuousClock.Instant?
    var isWanted = false
  }

  private let place: KeyOrigin
  private let metrics: TokenMetrics
  private let logger: Logger
  private let state = Mutex(State())

  /// The most bytes of a key set.
  public static var bytesMax: Int { IssuerKeySet.bytesMax }
  /// The time between two questions to an address, in seconds. Up to a fifth more is added at random, so that many processes do not ask
  /// together.
  static let intervalSeconds = 300.0
  /// The shortest time between two questions to an address.
  static let shortestInterval = Duration.seconds(30)
  /// The time after which a client is to try again when the keys have not been read yet, in seconds.
  static let retrySeconds = 5

  /// Makes keys that have not been read.
  ///
  /// - Parameters:
  ///   - place: The place.
  ///   - metrics: The metrics of tokens.
  ///   - logger: Gets changes and faults.
  public init(_ place: KeyOrigin, metrics: TokenMetrics, logger: Logger) {
    self.place = place
    self.metrics = metrics
    self.logger = logger
  }

  /// The state.
  public var status: Status { state.withLock(\.status) }

  /// The keys in force; nil if none were read yet.
  var set: IssuerKeySet? { state.withLock(\.set) }

  /// Says that a token names a key that is not there.
  func want() { state.withLock { $0.isWanted = true } }

  /// Reads the keys if that is due. Call it about once a second on a thread that may block; one call at a time.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - wallClock: The time for the status.
  public func refresh(at now: ContinuousClock.Instant, wallClock: Timestamp) {
    switch place {
    case .file(let path):
      let mark = FileMark(path)
      guard mark != state.withLock({ $0.mark }) else {
        // A file that has not changed is up to date.
        return state.withLock { if $0.status.fault == nil, $0.set != nil { $0.status.readAt = wallClock } }
      }
      state.withLock { $0.mark = mark }
      take(wallClock) { () throws(IssuerKeysError) in
        do throws(LineFileError) { return try WholeFile.bytes(path, bytesMax: IssuerKeySet.bytesMax) } catch {
          throw IssuerKeysError("\(error)")
        }
      }
    case .address(_, let ask):
      guard isDue(at: now) else { return }
      take(wallClock, ask)
    }
  }

  /// Whether the address is to be asked now. If so, the next question is planned.
  private func isDue(at now: ContinuousClock.Instant) -> Bool {
    state.withLock { state in
      if let asked = state.askedAt {
        guard now >= asked + Self.shortestInterval else { return false }
        let isRetry = state.isWanted || state.status.fault != nil
        guard isRetry || state.dueAt.map({ now >= $0 }) ?? true else { return false }
      }
      state.askedAt = now
      state.isWanted = false
      state.dueAt = now + .seconds(Self.intervalSeconds * Double.random(in: 1...1.2))
      return true
    }
  }

  private func take(_ wallClock: Timestamp, _ read: () throws(IssuerKeysError) -> [UInt8]) {
    do throws(IssuerKeysError) {
      let bytes = try read()
      let isSame = state.withLock { $0.set != nil && $0.bytes == bytes }
      if !isSame { use(try IssuerKeySet(bytes), bytes) }
      metrics.reads.add(1, ["read"])
      let before = state.withLock { state in
        defer { state.status.fault = nil }
        state.status.readAt = wallClock
        return state.status.fault
      }
      if before != nil { logger.info("the keys of the issuer can be read again", metadata: ["keys": "\(place.text)"]) }
    } catch {
      metrics.reads.add(1, ["failed"])
      let before = state.withLock { state in
        defer { state.status.fault = error.description }
        return state.status.fault
      }
      guard before == nil else { return }
      logger.warning(
        "the keys of the issuer cannot be read; those from before stay in force",
        metadata: ["keys": "\(place.text)", "error": "\(error)"])
    }
  }

  private func use(_ set: IssuerKeySet, _ bytes: [UInt8]) {
    state.withLock { state in
      state.set = set
      state.bytes = bytes
      state.status.keysCount = set.keys.count
    }
    let metadata: Logger.Metadata = [
      "keys": "\(place.text)", "count": "\(set.keys.count)", "unused": "\(set.unusedCount)",
    ]
    if set.keys.isEmpty {
      logger.warning("the issuer has no key that can check a signature, so no token is accepted", metadata: metadata)
    } else {
      logger.info("the keys of the issuer are in force", metadata: metadata)
    }
  }
}
