import Auditing
import Domain
import Foundation
import KafkaClient
import Keys
import NIOHTTP1
import Observing
import Pipeline

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

  let desk: ConsoleDesk
  let sessions: ConsoleSessions
  private let folder: URL

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - batch: The content; nil for no store.
  ///   - access: The keys and tokens; nil if none are needed.
  ///   - devices: The registrations; nil for none.
  init(_ batch: AuditBatch?, access: Authenticator? = nil, devices: (any ListeningDevices)? = nil) throws {
    var settings: ConsoleSettings
    (folder, settings) = try RunningConsole.place(batch)
    let now: @Sendable () -> Timestamp = { Self.start }
    sessions = ConsoleSessions(access)
    // The pages are made on the thread of the test.
    settings.readers = 0
    settings.devices = devices
    let readers = StoreReaders(settings) { _ in
      preconditionFailure("there are no threads")
    } turn: { _ in
    }
    desk = ConsoleDesk(
      settings, readers, DecisionTailer(storePath: settings.storePath, logger: RunningConsole.silent),
      sessions: sessions,
      watch: ClusterWatch(settings.pipeline, now: now), policies: PolicyWatch(settings.pipeline),
      reports: ReportShelf(), refusals: RefusalBook(ConsoleMetrics(MetricRegistry())),
      metrics: ConsoleMetrics(MetricRegistry()), logger: RunningConsole.silent, now: now)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

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
    return try route.handler(request, desk)
  }

  static func decision(
    _ n: Int, event: Identifier = "e1", device: Identifier = "phone", instance: Identifier = "w1",
    kind: Identifier = "FlightStatus", verdict: Verdict = .emit, reason: Reason = .emitted, command: Identifier? = nil
  ) -> Decision {
    Decision(
      decision: "d-0-\(n)-0", event: event, events: [event], device: device, instance: instance, kind: kind,
      surface: .widget, verdict: verdict, reason: reason, final: verdict != .defer, at: start + .minutes(Int64(n)),
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
