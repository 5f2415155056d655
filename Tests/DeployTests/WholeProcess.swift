import Foundation
import HTTPTesting
import KafkaClient
import Testing

/// A process with what a demo leaves out: a gateway and a console with TLS, keys and an issuer of tokens, snapshots, and traces for a
/// collector that is away. The broker and its topics are in the test.
final class WholeProcess {
  /// The address of its metrics, as host and port.
  let address: String
  private let folder: TemporaryFolder
  private let broker: EmbeddedBroker
  private let program: Program
  private let certificate: TestCertificate
  private let (gateway, console): (String, String)
  private let token: String
  private var acts = 0

  /// Starts everything.
  /// - Throws: when something does not start.
  init() throws {
    (folder, broker, certificate) = (try TemporaryFolder(), try EmbeddedBroker(), try TestCertificate())
    try ScoreSample.createTopics(broker, partitions: 1)
    let issuer = try TestIssuer()
    let expires = Int(Date().timeIntervalSince1970) + 3600
    token = try issuer.token(TestIssuer.claims("anna", roles: ["all"], expires: expires))
    for (name, text) in [
      ("policy.yaml", ScoreSample.policy()), ("issuer.json", try TestIssuer.keySet(issuer)),
      ("grants.json", Self.grants),
    ] { try Data(text.utf8).write(to: folder.url.appending(path: name)) }
    let (crt, key) = (certificate.path("tls.crt"), certificate.path("tls.key"))
    let settings = [
      "kafka.bootstrapServers=\(broker.bootstrapServers)", "topics.events=events", "membership=dynamic",
      "roles=intake,planner,audit,gateway,console", "policy=policy.yaml", "audit.store=audit.sqlite",
      "http.listen=127.0.0.1:0", "gateway.listen=127.0.0.1:0", "console.listen=127.0.0.1:0",
      "gateway.tlsCertificateFile=\(crt)", "gateway.tlsKeyFile=\(key)",
      "console.tlsCertificateFile=\(crt)", "console.tlsKeyFile=\(key)",
      "oidc.issuer=\(TestIssuer.name)", "oidc.audience=\(TestIssuer.audience)", "oidc.keysFile=issuer.json",
      "oidc.grantsFile=grants.json", "gateway.devicesView=devices.view", "planner.snapshotFolder=snapshots",
      "planner.snapshotIntervalSeconds=1", "planner.sweepIntervalSeconds=1",
      "traces.endpoint=http://127.0.0.1:9/v1/traces", "traces.samplesPerMillion=1000000",
    ]
    program = try Program(Tool.rouse, ["run"] + settings.flatMap { ["--set", $0] }, in: folder.url)
    address = try program.waitFor(/http:\/\/(127\.0\.0\.1:\d+)\/metrics/)
    gateway = try program.waitFor(/address=(https:\/\/127\.0\.0\.1:\d+) .*the gateway listens/)
    console = try program.waitFor(/address=(https:\/\/127\.0\.0\.1:\d+) .*the console listens/)
  }

  deinit { certificate.remove() }

  /// All that it has written so far.
  var words: String { program.words }

  /// Registers a device, publishes an event about it, says that its widget was fetched, looks at it, and is refused. Answers are not looked
  /// at, because a gateway that has just started says 503: what is missing in the end is missing in the metrics.
  /// - Throws: when `curl` cannot be started.
  func act() throws {
    acts += 1
    let right = "Authorization: Bearer \(token)"
    func ask(_ method: String, _ path: String, _ body: String, type: String = "cloudevents+json") throws {
      try curl(["-X", method, path, "-d", body, "-H", "Content-Type: application/\(type)", "-H", right])
    }
    if acts % 10 == 1 {
      try ask("PUT", "\(gateway)/v1/devices/d1", ScoreSample.registration(1), type: "json")
    }
    let event = ScoreSample.event("e\(acts)", "game/1", data: #"{"value":\#(acts)}"#)
    try ask("POST", "\(gateway)/v1/events", event)
    let signal = ScoreSample.event(
      "s\(acts)", type: "rouse.signal.widget.fetched", "d1", data: #"{"instance":"w"}"#)
    try ask("POST", "\(gateway)/v1/devices/d1/signals", signal)
    try curl(["\(console)/v1/devices/d1/timeline", "-H", right])
    for look in ["\(gateway)/v1/devices/d1", "\(console)/v1/devices/d1/timeline"] {
      try curl([look, "-H", "Authorization: Bearer x"])
    }
  }

  private func curl(_ arguments: [String]) throws {
    _ = try HTTPTesting.Tool.curl(["--cacert", certificate.path("tls.crt"), "--max-time", "5"] + arguments)
  }

  private static let grants =
    #"{"grants":[{"value":"all","role":"operator"},{"value":"all","role":"publisher","sources":["/"]},"#
    + #"{"value":"all","role":"registrar","apps":["a"]}]}"#
}
