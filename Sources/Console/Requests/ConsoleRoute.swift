import Auditing
import Foundation
import Keys
import Serving

/// An operation of the console: a method, a path, the role that it needs, and the answer.
struct ConsoleRoute: Sendable {
  /// Answers a request on the thread of a reader.
  typealias Handler = @Sendable (ConsoleRequest, ConsoleContext) throws -> HTTPAnswer

  /// The name, as in `schemas/openapi.yaml`, or the name of a page.
  let name: String
  let method: String
  /// The steps of the path; `{device}` stands for any text that is not empty.
  let steps: [String]
  /// The role that a key needs; nil if the path is open to anybody, such as the sign-in.
  let role: KeyRole?
  /// Whether the answer shows the history of devices. Every request is then recorded (`rouse audit access`). A handler whose answers name
  /// devices only sometimes sets `namesDevices` of its context.
  let isLook: Bool
  /// Whether the answer waits for the cluster. Such requests have threads of their own, so that questions to the store do not wait; those of
  /// operators, which change the cluster, have one.
  let usesCluster: Bool
  /// The names that the query of a page may have, besides that of a table; nil for any. Questions of programs check their queries themselves.
  let names: [String]?
  /// The answer.
  let handler: Handler

  /// Whether the path is one of people's pages, and not one of programs.
  var isPage: Bool { Self.isPage(steps.first ?? "") }
  /// Whether a refusal waits for a second, so that keys cannot be tried fast.
  var slowsRefusals: Bool { name == "signIn" }

  /// Whether a path that begins with a step is one of people's pages.
  static func isPage(_ step: some StringProtocol) -> Bool { step != "v1" }
  /// Whether a request and its answer leave an access record: it shows the history of devices, or changes something.
  var isRecorded: Bool { isLook || role == .operator && method != "GET" || steps.contains("{device}") }

  /// Makes a route.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - method: The method.
  ///   - path: The path, such as `/v1/devices/{device}/decisions`.
  ///   - role: The role that a key needs; nil for none.
  ///   - isLook: Whether the answer shows the history of devices.
  ///   - usesCluster: Whether the answer waits for the cluster.
  ///   - names: The names that the query of a page may have, besides that of a table; nil for any.
  ///   - handler: The answer.
  init(
    _ name: String, _ method: String, _ path: String, role: KeyRole?, isLook: Bool = false, usesCluster: Bool = false,
    names: [String]? = nil, _ handler: @escaping Handler
  ) {
    self.name = name
    self.method = method
    steps = path.split(separator: "/").map(String.init)
    self.role = role
    self.isLook = isLook
    self.usesCluster = usesCluster
    self.names = names
    self.handler = handler
  }

  /// Every route.
  static let all = questions + [objectives] + policies + deadLetters + surveys + pages

  /// Finds the route of a request.
  ///
  /// - Parameters:
  ///   - method: The method. `HEAD` is answered as `GET`.
  ///   - path: The path, escaped as it was sent.
  /// - Returns: The route, and the texts in the places of its names.
  /// - Throws: `Problem` for a path or a method that there is none of.
  static func find(method: String, path: String) throws(Problem) -> (route: ConsoleRoute, places: [String: String]) {
    let steps = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    let wanted = steps == [""] ? [] : steps
    var allowed: Set<String> = []
    for route in all {
      guard let places = try route.places(wanted) else { continue }
      if route.method == method || route.method == "GET" && method == "HEAD" { return (route, places) }
      allowed.insert(route.method)
    }
    guard allowed.isEmpty else { throw Problem(allowedMethods: allowed) }
    throw Problem(.notFound, "there is no such path")
  }

  /// Returns the answer to a request.
  ///
  /// - Throws: `Problem` for a request that is refused, and what the handler throws.
  func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    try checkNames(request.query)
    return try handler(request, context)
  }

  /// Refuses names in the query of a page that the page does not know. A filter with a typing error would otherwise filter nothing.
  private func checkNames(_ query: RequestQuery) throws(Problem) {
    guard let names else { return }
    var reader = QueryReader(query.withoutEmpty)
    for name in names + [PageTable.nameField] { _ = reader.text(name, bytesMax: .max) }
    try reader.finish()
  }

  /// Returns the texts in the places of the path's names; nil if the path is another.
  private func places(_ wanted: [String]) throws(Problem) -> [String: String]? {
    guard wanted.count == steps.count else { return nil }
    for (step, text) in zip(steps, wanted) where !step.hasPrefix("{") && step != text { return nil }
    var places: [String: String] = [:]
    for (step, text) in zip(steps, wanted) {
      if step.hasPrefix("{") {
        guard let text = text.removingPercentEncoding else {
          throw Problem(.malformedRequest, "the path is not UTF-8 in percent-encoding")
        }
        guard !text.isEmpty else { return nil }
        places[String(step.dropFirst().dropLast())] = text
      }
    }
    return places
  }
}

extension ConsoleRoute {
  /// The pages for people.
  static let pages = [
    ConsoleRoute("overviewPage", "GET", "/", role: .auditor, names: ["hours"], OverviewPage.answer),
    ConsoleRoute(
      "devicePage", "GET", "/devices/{device}", role: .auditor, isLook: true, names: ["from", "to", "utc-offset"],
      DevicePage.answer),
    ConsoleRoute(
      "devicePageById", "GET", "/devices", role: .auditor, isLook: true, names: ["id", "from", "to", "utc-offset"],
      DevicePage.answer),
    ConsoleRoute("eventPage", "GET", "/events/{event}", role: .auditor, isLook: true, names: [], EventPage.answer),
    ConsoleRoute("eventPageById", "GET", "/events", role: .auditor, isLook: true, names: ["id"], EventPage.answer),
    ConsoleRoute(
      "commandPage", "GET", "/commands/{command}", role: .auditor, isLook: true, names: ["utc-offset"],
      CommandPage.answer),
    ConsoleRoute(
      "commandPageById", "GET", "/commands", role: .auditor, isLook: true, names: ["id", "utc-offset"],
      CommandPage.answer),
    ConsoleRoute(
      "whyPage", "GET", "/why", role: .auditor, isLook: true,
      names: ["device", "event", "instance", "kind", "at", "utc-offset"], WhyPage.answer),
    ConsoleRoute("topPage", "GET", "/top", role: .auditor, names: ["by", "from", "to"], TopPage.answer),
    ConsoleRoute("searchPage", "GET", "/search", role: .auditor, isLook: true, names: ["q"], SearchPage.answer),
    ConsoleRoute("decisionsPage", "GET", "/decisions", role: .auditor, isLook: true, DecisionsPage.answer),
    ConsoleRoute(
      "decisionPage", "GET", "/decisions/{decision}", role: .auditor, isLook: true, names: [], DecisionsPage.one),
    ConsoleRoute("policyPage", "GET", "/policy", role: .auditor, names: [], PolicyPage.answer),
    ConsoleRoute("policyCheckPage", "POST", "/policy", role: .auditor, PolicyPage.check),
    ConsoleRoute("policyApplyPage", "POST", "/policy/apply", role: .operator, usesCluster: true, PolicyPage.apply),
    ConsoleRoute(
      "policyRecordPage", "GET", "/policy/records/{offset}", role: .auditor, names: [], PolicyHistoryPage.record),
    ConsoleRoute(
      "policyDifferencePage", "GET", PolicyHistoryPage.differencePath, role: .auditor, names: ["from", "to"],
      PolicyHistoryPage.difference),
    ConsoleRoute("tryPage", "GET", TryPage.path, role: .auditor, names: ["event", "kind", "document"], TryPage.answer),
    ConsoleRoute("tryEventPage", "POST", TryPage.path, role: .auditor, TryPage.attempt),
    ConsoleRoute("simulationPage", "GET", SimulationPage.path, role: .auditor, names: [], SimulationPage.answer),
    ConsoleRoute("keepSimulationPage", "POST", SimulationPage.path, role: .auditor, SimulationPage.keep),
    ConsoleRoute("showSimulationPage", "GET", "/simulation/{report}", role: .auditor, names: [], SimulationPage.show),
    ConsoleRoute(
      "deadLettersPage", "GET", "/dead-letters", role: .auditor, isLook: true, names: ["reason"], DeadLettersPage.answer
    ),
    ConsoleRoute(
      "deadLettersTable", "GET", DeadLettersPage.csvPath, role: .auditor, isLook: true, usesCluster: true,
      names: ["reason"],
      DeadLettersPage.csv),
    ConsoleRoute(
      "deadLetterPage", "GET", "/dead-letters/{partition}/{offset}", role: .auditor, isLook: true, usesCluster: true,
      names: [],
      DeadLettersPage.letter),
    ConsoleRoute("replayPage", "POST", "/dead-letters", role: .operator, usesCluster: true, DeadLettersPage.replay),
    ConsoleRoute(
      "replayReasonPage", "POST", DeadLettersPage.reasonPath, role: .operator, usesCluster: true,
      DeadLettersPage.replayReason),
    ConsoleRoute("healthPage", "GET", "/health", role: .auditor, names: [], HealthPage.answer),
    ConsoleRoute("accessPage", "GET", AccessPage.path, role: .operator, isLook: true, AccessPage.answer),
    ConsoleRoute("signInPage", "GET", SignInPage.path, role: nil) { request, context in
      SignInPage.answer(next: SignInPage.safe(request.query["next"]), context.sessions.access)
    },
    ConsoleRoute("signIn", "POST", SignInPage.path, role: nil, SignInPage.signIn),
    ConsoleRoute("signOut", "POST", "/sign-out", role: .auditor, SignInPage.signOut),
    ConsoleRoute("asset", "GET", "/assets/{file}", role: nil) { request, _ in
      try PageAsset.answer(path: request.head.path)
    },
  ]
}
