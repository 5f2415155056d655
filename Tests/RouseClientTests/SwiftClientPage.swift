import Foundation
import RouseClient

// The code of the page SwiftClient.md that needs no framework of Apple, so that it is compiled. `SwiftClientPageTests` compares the two.

private enum logger {
  static func log(_ words: String) { _ = words }
}

private func signInToken() async throws -> String { "token" }

func makeClient(gateway: URL, container: URL, isExtension: Bool) -> DeviceClient {
  var settings = DeviceClientSettings(
    gateway: gateway, app: "com.example.flights", environment: .production, folder: container.appending(path: "rouse"))
  settings.authorization = { "Bearer \(try await signInToken())" }
  settings.report = { report in logger.log("\(report)") }
  // The system suspends an extension early: it keeps what happened, and `flush` sends it.
  settings.sendsByItself = !isExtension
  return DeviceClient(settings)
}

func registerDevice(_ client: DeviceClient, backgroundToken: Data) async throws {
  try await client.update { registration in
    registration.osVersion = DeviceRegistration.running
    registration.timeZone = TimeZone.current.identifier
    registration.tokens.background = PushToken(backgroundToken)
  }
}

func signOut(_ client: DeviceClient) async throws {
  try await client.forget()
  await client.flush()
}

func instance(_ kind: String, _ family: String, _ flight: String) -> String { "\(kind)/\(family)/\(flight)" }

func placed(_ found: [(kind: String, family: String, flight: String)]) -> [DeviceRegistration.PlacedWidget] {
  var copies: [String: Int] = [:]
  return found.map { widget in
    let name = instance(widget.kind, widget.family, widget.flight)
    copies[name, default: 0] += 1
    // Each copy has a budget of its own, so each needs an id of its own.
    let copy = copies[name, default: 1]
    return DeviceRegistration.PlacedWidget(
      id: copy == 1 ? name : "\(name)/\(copy)", kind: widget.kind, family: widget.family,
      interests: ["flight/\(widget.flight)"])
  }
}

func widgetsChanged(
  _ client: DeviceClient, token: Data, _ found: [(kind: String, family: String, flight: String)]
) async throws {
  let widgets = placed(found)
  try await client.update { registration in
    registration.tokens.widgets = PushToken(token)
    registration.widgets = widgets
  }
  await client.flush()
}

func fetched<Content: Sendable>(
  _ client: DeviceClient, _ instance: String, _ fetch: @Sendable () async throws -> Content
) async throws -> Content {
  try await client.enqueue(.widgetFetched(instance: instance))
  async let sent = client.flush()
  let content = try await fetch()
  _ = await sent
  return content
}

func foregroundChanged(_ client: DeviceClient, isForeground: Bool) async throws {
  try await client.enqueue(isForeground ? .appForegrounded : .appBackgrounded)
  await client.flush()
}

func activityChanged(
  _ client: DeviceClient, _ activity: DeviceRegistration.RunningActivity, isNew: Bool
) async throws {
  try await client.update { registration in
    registration.activities.removeAll { $0.id == activity.id }
    registration.activities.append(activity)
  }
  if isNew { try await client.enqueue(.activityStarted(instance: activity.id)) }
}

func activityEnded(_ client: DeviceClient, id: String, byPerson: Bool) async throws {
  try await client.enqueue(byPerson ? .activityDismissed(instance: id) : .activityEnded(instance: id))
  try await client.update { registration in registration.activities.removeAll { $0.id == id } }
}

func startTokenChanged(_ client: DeviceClient, kind: String, token: Data, interests: [String]) async throws {
  try await client.update { registration in
    registration.pushToStart.removeAll { $0.kind == kind }
    registration.pushToStart.append(.init(kind: kind, token: PushToken(token), interests: interests))
  }
}

func describe(_ client: DeviceClient) async throws -> String {
  let status = try await client.status()
  return """
    \(status.waitingSignals) signals wait, after \(status.failures) failures; dropped: \(status.droppedSignals), \
    damaged: \(status.damagedFiles), refused: \(status.refusals)
    """
}
