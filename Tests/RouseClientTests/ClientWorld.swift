import Foundation
import Synchronization
import Testing

@testable import RouseClient

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A gateway that answers by a script, a clock that tests set, and a folder: the surroundings of a client.
final class ClientWorld: ClientTransport, Sendable {
  /// A request as the gateway got it.
  struct SeenRequest: Sendable {
    var method: String
    var path: String
    var authorization: String?
    var body: Data

    var object: [String: Any] {
      get throws { try #require(JSONSerialization.jsonObject(with: body) as? [String: Any]) }
    }
    var signals: [[String: Any]] {
      get throws { try #require(JSONSerialization.jsonObject(with: body) as? [[String: Any]]) }
    }
    var ids: [String] { get throws { try signals.compactMap { $0["id"] as? String } } }
  }

  /// An answer, or its lack.
  enum ScriptedAnswer: Sendable {
    case status(Int, headers: [String: String] = [:], body: String = "")
    case lost
    /// The status 202, once `release` was called.
    case held
  }

  private struct Notes {
    var script: [ScriptedAnswer] = []
    var requests: [SeenRequest] = []
    var isHeld = true
    var underway = 0
    var underwayMost = 0
    var now = Date(timeIntervalSince1970: 1_800_000_000)
    var pauses: [Duration] = []
    var random = 0.5
    var reports: [DeviceClientReport] = []
    /// The time by which the gateway's clock is ahead of the device's; nil if its answers have no date.
    var ahead: TimeInterval?
  }

  private let notes = Mutex(Notes())
  let folder: URL

  init(_ script: [ScriptedAnswer] = []) {
    folder = FileManager.default.temporaryDirectory.appending(path: "client-\(UUID().uuidString)")
    notes.withLock { $0.script = script }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var requests: [SeenRequest] { notes.withLock { $0.requests } }
  var reports: [DeviceClientReport] { notes.withLock { $0.reports } }
  var pauses: [Duration] { notes.withLock { $0.pauses } }
  var underwayMost: Int { notes.withLock { $0.underwayMost } }
  var now: Date { notes.withLock { $0.now } }

  func script(_ answers: [ScriptedAnswer]) { notes.withLock { $0.script = answers } }
  func release() { notes.withLock { $0.isHeld = false } }
  func advance(_ seconds: TimeInterval) { notes.withLock { $0.now += seconds } }
  func set(random: Double) { notes.withLock { $0.random = random } }
  func set(ahead: TimeInterval) { notes.withLock { $0.ahead = ahead } }

  /// A client of one process. Nothing waits for real: a pause sets the clock.
  func client(
    sendsByItself: Bool = false, _ change: (inout DeviceClientSettings) -> Void = { _ in }
  ) throws -> DeviceClient {
    let settings = try settings(sendsByItself: sendsByItself, change)
    return DeviceClient(
      settings,
      environment: ClientEnvironment(
        now: { self.now },
        sleep: { pause in
          try Task.checkCancellation()
          // A program that another test starts can hold the folder's lock for an instant; the clock does not tell of it.
          if pause != ClientFolder.lockPause {
            self.notes.withLock {
              $0.pauses.append(pause)
              $0.now += pause / .seconds(1)
            }
          }
          await Task.yield()
        },
        random: { self.notes.withLock { $0.random } }))
  }

  /// The settings of a client.
  func settings(
    sendsByItself: Bool = false, _ change: (inout DeviceClientSettings) -> Void = { _ in }
  ) throws -> DeviceClientSettings {
    var settings = DeviceClientSettings(
      gateway: try #require(URL(string: "http://gateway.example/base")), app: "com.example.flights",
      environment: .production, folder: folder)
    settings.device = "phone/1 é"
    settings.transport = self
    settings.sendsByItself = sendsByItself
    settings.report = { [weak self] report in self?.notes.withLock { $0.reports.append(report) } }
    change(&settings)
    return settings
  }

  func answer(to request: URLRequest) async throws -> (body: Data, response: HTTPURLResponse) {
    let url = try #require(request.url)
    let (answer, date): (ScriptedAnswer, Date?) = notes.withLock { notes in
      notes.requests.append(
        SeenRequest(
          method: request.httpMethod ?? "", path: url.absoluteString,
          authorization: request.value(forHTTPHeaderField: "Authorization"), body: request.httpBody ?? Data()))
      notes.underway += 1
      notes.underwayMost = max(notes.underwayMost, notes.underway)
      return (
        notes.script.isEmpty ? .status(202) : notes.script.removeFirst(), notes.ahead.map { notes.now + $0 }
      )
    }
    await Task.yield()
    notes.withLock { $0.underway -= 1 }
    switch answer {
    case .lost: throw URLError(.notConnectedToInternet)
    case .held:
      while notes.withLock({ $0.isHeld }) { await Task.yield() }
      return (Data(), try #require(HTTPURLResponse(url: url, statusCode: 202, httpVersion: nil, headerFields: nil)))
    case .status(let status, var headers, let body):
      if body.hasPrefix("{"), headers["Content-Type"] == nil { headers["Content-Type"] = "application/problem+json" }
      if let date { headers["Date"] = Self.httpDate(date) }
      let response = try #require(
        HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers))
      return (Data(body.utf8), response)
    }
  }

  static func httpDate(_ date: Date) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: date)
  }
}

/// The words of a refusal of the gateway.
func problem(_ detail: String, wrong: [Int] = []) -> String {
  let errors = wrong.map { #"{"index":\#($0),"detail":"wrong"}"# }.joined(separator: ",")
  return #"{"type":"urn:rouse:problem:record-refused","status":400,"detail":"\#(detail)","errors":[\#(errors)]}"#
}
