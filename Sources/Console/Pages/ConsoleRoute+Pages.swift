import Auditing
import Keys
import Serving

extension ConsoleRoute {
  /// The pages for people.
  static let pages = [
    ConsoleRoute("overviewPage", "GET", "/", role: .auditor, OverviewPage.answer),
    ConsoleRoute("devicePage", "GET", "/devices/{device}", role: .auditor, isLook: true, DevicePage.answer),
    ConsoleRoute("devicePageById", "GET", "/devices", role: .auditor, isLook: true, DevicePage.answer),
    ConsoleRoute("eventPage", "GET", "/events/{event}", role: .auditor, isLook: true, EventPage.answer),
    ConsoleRoute("eventPageById", "GET", "/events", role: .auditor, isLook: true, EventPage.answer),
    ConsoleRoute("commandPage", "GET", "/commands/{command}", role: .auditor, isLook: true, CommandPage.answer),
    ConsoleRoute("commandPageById", "GET", "/commands", role: .auditor, isLook: true, CommandPage.answer),
    ConsoleRoute("whyPage", "GET", "/why", role: .auditor, isLook: true, WhyPage.answer),
    ConsoleRoute("topPage", "GET", "/top", role: .auditor, TopPage.answer),
    ConsoleRoute("searchPage", "GET", "/search", role: .auditor, isLook: true, SearchPage.answer),
    ConsoleRoute("decisionsPage", "GET", "/decisions", role: .auditor, isLook: true, DecisionsPage.answer),
    ConsoleRoute("decisionPage", "GET", "/decisions/{decision}", role: .auditor, isLook: true, DecisionsPage.one),
    ConsoleRoute("policyPage", "GET", "/policy", role: .auditor, PolicyPage.answer),
    ConsoleRoute("policyCheckPage", "POST", "/policy", role: .auditor, PolicyPage.check),
    ConsoleRoute("policyApplyPage", "POST", "/policy/apply", role: .operator, usesCluster: true, PolicyPage.apply),
    ConsoleRoute(
      "policyRecordPage", "GET", "/policy/records/{offset}", role: .auditor, PolicyHistoryPage.record),
    ConsoleRoute(
      "policyDifferencePage", "GET", PolicyHistoryPage.differencePath, role: .auditor, PolicyHistoryPage.difference),
    ConsoleRoute("tryPage", "GET", TryPage.path, role: .auditor, TryPage.answer),
    ConsoleRoute("tryEventPage", "POST", TryPage.path, role: .auditor, TryPage.attempt),
    ConsoleRoute("simulationPage", "GET", SimulationPage.path, role: .auditor, SimulationPage.answer),
    ConsoleRoute("keepSimulationPage", "POST", SimulationPage.path, role: .auditor, SimulationPage.keep),
    ConsoleRoute("showSimulationPage", "GET", "/simulation/{report}", role: .auditor, SimulationPage.show),
    ConsoleRoute("deadLettersPage", "GET", "/dead-letters", role: .auditor, isLook: true, DeadLettersPage.answer),
    ConsoleRoute(
      "deadLettersTable", "GET", DeadLettersPage.csvPath, role: .auditor, isLook: true, usesCluster: true,
      DeadLettersPage.csv),
    ConsoleRoute(
      "deadLetterPage", "GET", "/dead-letters/{partition}/{offset}", role: .auditor, isLook: true, usesCluster: true,
      DeadLettersPage.letter),
    ConsoleRoute("replayPage", "POST", "/dead-letters", role: .operator, usesCluster: true, DeadLettersPage.replay),
    ConsoleRoute(
      "replayReasonPage", "POST", DeadLettersPage.reasonPath, role: .operator, usesCluster: true,
      DeadLettersPage.replayReason),
    ConsoleRoute("healthPage", "GET", "/health", role: .auditor, HealthPage.answer),
    ConsoleRoute("signInPage", "GET", SignInPage.path, role: nil) { request, desk in
      SignInPage.answer(next: SignInPage.safe(request.query["next"]), desk.sessions.access)
    },
    ConsoleRoute("signIn", "POST", SignInPage.path, role: nil, SignInPage.signIn),
    ConsoleRoute("signOut", "POST", "/sign-out", role: .auditor, SignInPage.signOut),
    ConsoleRoute("asset", "GET", "/assets/{file}", role: nil) { request, _ in
      try PageAsset.answer(path: request.head.path)
    },
  ]
}
