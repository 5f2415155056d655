import Auditing
import Foundation
public import Installation
import KafkaClient
public import Logging
import Synchronization

/// Looks again and again whether a console's audit store can be read and whether a broker answers, for probes, metrics and the log. May be
/// used from any thread.
///
/// A console without brokers still answers from its store, so it is degraded and not down. A console without a store has no answers.
public final class ConsoleCheck: Sendable {
  /// The results of the last look.
  public struct Findings: Sendable, Equatable {
    /// The reason why the audit store cannot be read; nil if it can.
    public var store: String?
    /// The reason why the brokers cannot be asked; nil if one answers, or before the first look.
    public var brokers: String?
  }

  private let settings: ConsoleSettings
  private let logger: Logger
  private let state: Mutex<Findings>

  /// The time between two looks at something that was there.
  private static let interval = Duration.seconds(10)
  /// The time between two turns, in seconds: a store that was missing is found this soon.
  private static let turnSeconds = 1.0
  /// The longest wait for a broker.
  /// - Beyond: the brokers count as away.
  private static let answerTimeMax = Duration.seconds(5)

  /// Looks at the store for the first time.
  ///
  /// - Parameters:
  ///   - settings: The console.
  ///   - logger: Gets what is missing, and when it is back.
  public init(_ settings: ConsoleSettings, logger: Logger) {
    self.settings = settings
    self.logger = logger
    state = Mutex(Findings(store: Self.storeFault(settings.storePath)))
  }

  /// The results of the last look.
  public var findings: Findings { state.withLock(\.self) }

  /// Looks until the process is to end. Call it on a thread of its own.
  ///
  /// - Parameters:
  ///   - stop: Says when to end. It returns within seconds.
  ///   - metrics: Gets the results.
  public func run(until stop: StopSignal, _ metrics: ConsoleMetrics) {
    if let fault = findings.store { tellStore(fault) }
    var next = ContinuousClock.now
    while !stop.isAsked {
      let isDue = ContinuousClock.now >= next
      if isDue || findings.store != nil { noteStore(Self.storeFault(settings.storePath)) }
      if isDue {
        noteBrokers(brokersFault())
        next = .now + Self.interval
      }
      let findings = findings
      metrics.set(hasStore: findings.store == nil, hasBrokers: findings.brokers == nil)
      stop.wait(Self.turnSeconds)
    }
  }

  private func noteStore(_ fault: String?) {
    let before = state.withLock { state in
      defer { state.store = fault }
      return state.store
    }
    guard (before == nil) != (fault == nil) else { return }
    if let fault { tellStore(fault) } else { logger.info("the audit store can be read") }
  }

  private func tellStore(_ fault: String) {
    logger.warning(
      "the audit store cannot be read, so the console has no answers; it looks again every second",
      metadata: ["store": "\(settings.storePath)", "error": "\(fault)"])
  }

  private func noteBrokers(_ fault: String?) {
    let before = state.withLock { state in
      defer { state.brokers = fault }
      return state.brokers
    }
    guard (before == nil) != (fault == nil) else { return }
    guard let fault else { return logger.info("the brokers answer again") }
    logger.warning(
      "no broker answers, so the console shows no policies, dead letters and topics, and nobody can change anything; it answers from the audit store",
      metadata: ["error": "\(fault)"])
  }

  private static func storeFault(_ path: String) -> String? {
    do throws(AuditError) {
      _ = try AuditStore.open(path: path, options: AuditOptions(access: .read))
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func brokersFault() -> String? {
    do throws(KafkaError) {
      _ = try KafkaAdmin(settings.cluster.kafka).describeCluster(timeout: Self.answerTimeMax)
      return nil
    } catch {
      return error.message
    }
  }
}
