import Auditing
import Domain
import Foundation
import Observing
import Serving

/// The access records of a console, open for writing from the first record on, and those of a gateway, for reading. Belongs to the
/// thread of a reader.
final class AccessRecords {
  /// The keepers of access records.
  enum Keeper: String, CaseIterable { case console, gateway }

  private let metrics: ConsoleMetrics
  private var file: AccessFile
  private let gatewayPath: String?

  /// Opens nothing yet.
  init(_ settings: ConsoleSettings, _ metrics: ConsoleMetrics) {
    self.metrics = metrics
    file = AccessFile(path: AccessStore.path(besides: settings.storePath), retention: settings.accessLimits)
    gatewayPath = settings.gatewayAccessPath
  }

  /// Records a request and its answer, if it is a change or a look at the history of devices.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - route: Its route.
  ///   - context: The context that has answered. It knows what the answer is about; the address may name other things.
  ///   - answer: The answer.
  ///   - refusal: Makes the answer that says why there is none.
  /// - Returns: The answer; a refusal if the record cannot be written, because nothing is shown or done without one. A change has been made
  ///   then; the refusal says so.
  func record(
    _ request: ConsoleRequest, _ route: ConsoleRoute, of context: ConsoleContext, _ answer: HTTPAnswer,
    refusal: (Problem) -> HTTPAnswer
  ) -> HTTPAnswer {
    guard route.isRecorded || context.namesDevices else { return answer }
    let record = AccessRecord(
      at: Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000)),
      key: request.viewer.key.map { Identifier($0) }, operation: Identifier(route.name),
      device: context.device, event: context.event, subject: context.subject.map { Identifier($0) },
      status: answer.status, client: request.head.remote.map { Identifier($0) })
    do throws(AuditError) {
      try file.use { store throws(AuditError) in try store.write(record) }
      metrics.records.add(1, ["written"])
      return answer
    } catch {
      metrics.records.add(1, ["failed"])
      answer.stream?.cancel()
      let done = route.method == "GET" ? "nothing is shown" : "it was answered with \(answer.status)"
      return refusal(
        Problem(.unavailable, "the request cannot be recorded, so \(done): \(error)", retryAfterSeconds: 5))
    }
  }

  /// Writes the attempts that were refused since the last call. Those that cannot be written are kept for the next one.
  ///
  /// - Parameters:
  ///   - refusals: The attempts.
  ///   - now: The wall clock.
  func write(_ refusals: RefusedAttempts, at now: Timestamp) {
    do throws(AuditError) {
      try refusals.flush(at: now) { (grown: [RefusedAccess]) throws(AuditError) in
        let numbers = try file.use { store throws(AuditError) in try store.write(grown) }
        metrics.records.add(grown.count, ["written"])
        return numbers
      }
    } catch {
      metrics.records.add(1, ["failed"])
    }
  }

  /// Throws if nothing can be recorded now. Call it before a change.
  ///
  /// - Throws: `Problem` that says what to do.
  func check() throws(Problem) {
    do throws(AuditError) { try file.use { _ in } } catch {
      throw Problem(.unavailable, "changes cannot be recorded, so none is made: \(error)", retryAfterSeconds: 5)
    }
  }

  /// Returns a part of the records, the newest first.
  ///
  /// - Parameters:
  ///   - keeper: The one whose records are asked for.
  ///   - filter: The filter.
  ///   - place: The place behind the last record of the part before; nil for the first part.
  ///   - limit: The most records.
  /// - Throws: `Problem` if they cannot be read, or if the console does not know those of the gateway.
  func part(
    of keeper: Keeper, _ filter: AccessFilter, after place: AccessPlace?, limit: Int
  ) throws(Problem) -> (records: [AccessRecord], next: AccessPlace?) {
    if keeper == .gateway, gatewayPath == nil {
      throw Problem(
        .notFound,
        "the console does not know the gateway's records; give it gateway.accessFile, or gateway.devicesView, as the gateway has it"
      )
    }
    do throws(AuditError) {
      if keeper == .gateway, let gatewayPath {
        return try AccessStore.openToRead(path: gatewayPath).part(filter, after: place, limit: limit)
      }
      return try file.use { store throws(AuditError) in try store.part(filter, after: place, limit: limit) }
    } catch {
      throw Problem(.unavailable, "the access records cannot be read: \(error)", retryAfterSeconds: 5)
    }
  }
}
