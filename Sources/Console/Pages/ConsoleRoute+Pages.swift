import Auditing
import Keys
import Serving

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
