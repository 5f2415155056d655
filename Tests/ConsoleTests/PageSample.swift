import Auditing
import Domain
import Foundation
import KafkaClient
import Keys
import NIOHTTP1
import Observing
import Synchronization

@testable import Console
@testable import Serving

/// Pages on a store of their own, made on the thread of the test.
final class PageSample {
  /// Texts that break pages which do not escape. Each is an id, a kind or a payload of the store.
  static let hostile: [Identifier] = [
    "<script>alert(1)</script>", "\" onmouseover=\"alert(1)", "\"\u{301} autofocus onfocus=alert(1) ",
    "'><svg/onload=alert(1)>",
    "javascript:alert(1)", "{{title}}{{{drawing}}}", "</title></textarea></pre>--><b>", "../../etc/passwd?a=b#c&d=%41;",
    "..",
    "\u{202e}left to right\u{2066}", "שלום", "\u{600}\"\u{20dd}<\u{338}b>", "a\nb\tc\r\nd",
    Identifier(String(repeating: "w<", count: 128)),
  ]
  /// 2013-03-08T12:00:00Z
  static let start = Timestamp(microseconds: 1_362_744_000_000_000)

  let context: ConsoleContext
  /// Makes another context on the same store.
  let makeContext: @Sendable (StoreReaders) -> ConsoleContext
  let sessions: ConsoleSessions
  private let folder: URL

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - batch: The content; nil for no store.
  ///   - access: The keys and tokens; nil if none are needed.
  ///   - devices: The registrations; nil for none.
  ///   - change: Changes the settings.
  init(
    _ batch: AuditBatch?, access: Authenticator? = nil, devices: (any ListeningDevices)? = nil,
    _ change: (inout ConsoleSettings) -> Void = { _ in }
  ) throws {
    var settings: ConsoleSettings
    (folder, settings) = try RunningConsole.place(batch)
    let now: @Sendable () -> Timestamp = { Self.start }
    let sessions = ConsoleSessions(access)
    settings.devices = devices
    change(&settings)
    let (place, watch) = (settings, ClusterWatch(settings.cluster, settings.state, now: now))
    let reports = ReportStore(
      path: ReportStore.path(besides: settings.storePath), bytesMax: 1 << 20, logger: RunningConsole.silent)
    let makeContext: @Sendable (StoreReaders) -> ConsoleContext = { readers in
      ConsoleContext(
        place, readers, DecisionTailer(storePath: place.storePath, logger: RunningConsole.silent), sessions: sessions,
        watch: watch, policies: PolicyWatch(place.cluster), processes: place.others.map { ProcessWatch($0, now: now) },
        reports: reports,
        refusals: RefusedAttempts(ConsoleMetrics(MetricRegistry())), metrics: ConsoleMetrics(MetricRegistry()),
        logger: RunningConsole.silent, now: now)
    }
    self.makeContext = makeContext
    self.sessions = sessions
    // The pages are made on the thread of the test; the thread of the readers only makes what is read while it is sent.
    context = makeContext(StoreReaders(settings, threads: 1, makeContext: makeContext) { _ in })
  }

  deinit {
    context.readers.end()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Returns the page at an address.
  ///
  /// - Parameters:
  ///   - address: The path with the query.
  ///   - method: The method.
  ///   - body: The body.
  ///   - viewer: The one who asks.
  /// - Throws: `Problem` if the page is refused.
  func page(
    _ address: String, method: String = "GET", body: String = "", headers: [(String, String)] = [],
    viewer: Viewer = .anybody
  ) throws -> HTTPAnswer {
    let head = HTTPHead(address, method: method, headers)
    let (route, places) = try ConsoleRoute.find(method: method, path: head.path)
    let request = ConsoleRequest(
      head: head, places: places, query: try RequestQuery(head.query), body: Array(body.utf8), viewer: viewer)
    var answer = try route.answer(request, context)
    if let stream = answer.stream { answer.body = try Self.bytes(of: stream) }
    return answer
  }

  /// Takes a body that is made while it is sent.
  ///
  /// - Throws: `Problem` if it is broken off.
  private static func bytes(of stream: HTTPBodyStream) throws(Problem) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let (given, taken) = (DispatchSemaphore(value: 0), TakenPiece())
      stream.next { piece in
        taken.piece.withLock { $0 = piece }
        given.signal()
      }
      given.wait()
      switch taken.piece.withLock(\.self) {
      case .bytes(let more): bytes += more
      case .end: return bytes
      case .broken: throw Problem(.unavailable, "the body was broken off")
      }
    }
  }

  /// The piece that a stream gives on another thread.
  private final class TakenPiece: Sendable {
    let piece = Mutex<HTTPBodyStream.Piece>(.broken)
  }

  static func decision(
    _ n: Int, event: Identifier = "e1", device: Identifier = "phone", instance: Identifier = "w1",
    kind: Identifier = "FlightStatus", verdict: Verdict = .emit, reason: Reason = .emitted, command: Identifier? = nil,
    minute: Int? = nil
  ) -> Decision {
    Decision(
      decision: "d-0-\(n)-0", event: event, events: [event], device: device, instance: instance, kind: kind,
      surface: .widget, verdict: verdict, reason: reason, final: verdict != .defer,
      at: start + .minutes(Int64(minute ?? n)),
      relevance: 0.5, wrong: 0.64, looks: 0.8, value: 0.4096, price: 0.3,
      tokensLeft: Decision.TokensLeft(instance: 11, device: 2), until: nil, command: command, objective: .met,
      policy: PolicyReference(version: kind, hash: event))
  }

  static func command(
    _ n: Int, device: Identifier = "phone", instance: Identifier = "w1", kind: Identifier, event: Identifier,
    id: Identifier? = nil, left: Int? = nil
  ) -> Command {
    let at = start + .minutes(Int64(n))
    return Command(
      command: id ?? "c-0-\(n)-0", device: device, app: kind, environment: .production, surface: .widget,
      serves: [Command.Served(instance: instance, kind: kind, events: [event], reason: .emitted)],
      charged: [
        Command.Charge(ledger: .instance, owner: instance, left: left ?? 40 - n),
        Command.Charge(ledger: .device, owner: device, left: 2),
      ],
      apns: Command.APNs(
        address: .token("00ff00ff"), headers: [Command.Header(name: event, value: event.text)],
        payload: "{\"aps\":{\"x\":\"\(event.text)\"}}"), at: at, expires: at + .minutes(30),
      policy: PolicyReference(version: kind, hash: event))
  }

  /// Records with each hostile text in every field.
  static func hostileBatch() -> AuditBatch {
    var batch = AuditBatch()
    for (n, text) in hostile.enumerated() {
      batch.append(
        decision(n, event: text, device: text, instance: text, kind: text, command: "c-0-\(n)-0"))
      batch.append(
        decision(n + 100, event: text, device: text, instance: text, kind: text, verdict: .defer, reason: .belowPrice))
      batch.append(command(n, device: text, instance: text, kind: text, event: text))
      // A Live Activity that was started and never registered, and a record that the store will never have.
      var start = command(n, device: text, instance: "start", kind: text, event: text, id: "c-0-\(n + 50)-0")
      (start.surface, start.subject) = (.liveActivity, text)
      batch.append(start)
      batch.append(
        AuditHole(
          topic: .decisions, partition: 0, offsets: Int64(n)..<Int64(n + 1), cause: .refused, reason: text.text))
    }
    return batch
  }
}

extension HTTPHead {
  /// Makes the head of a request to 127.0.0.1.
  init(_ address: String, method: String = "GET", _ headers: [(String, String)] = []) {
    self.init(
      HTTPRequestHead(
        version: .http1_1, method: HTTPMethod(rawValue: method), uri: address,
        headers: HTTPHeaders([("host", "127.0.0.1:8090"), ("accept", "text/html")] + headers)),
      remote: nil)
  }

  /// Makes the head of a request to another name.
  init(host: String, method: String, _ headers: [(String, String)]) {
    self.init(
      HTTPRequestHead(
        version: .http1_1, method: HTTPMethod(rawValue: method), uri: "/policy",
        headers: HTTPHeaders([("host", host)] + headers.filter { $0.0 != "host" })),
      remote: nil)
  }
}
