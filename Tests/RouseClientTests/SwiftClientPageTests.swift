import Foundation
import RouseClient
import Synchronization
import Testing

/// The page on the client shows code that compiles and works.
@Suite("The page on the Swift client") struct SwiftClientPageTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test("every block that needs no framework of Apple is in a file that is compiled")
  func compiled() throws {
    let page = try String(
      contentsOf: Self.root.appending(path: "Sources/rouse/Documentation.docc/SwiftClient.md"), encoding: .utf8)
    let file = try String(
      contentsOf: Self.root.appending(path: "Tests/RouseClientTests/SwiftClientPage.swift"), encoding: .utf8)
    let blocks = page.matches(of: /```swift\n((?s).*?)```/).map { String($0.1) }
    let compiled = blocks.filter {
      !$0.contains(/import (WidgetKit|ActivityKit|SwiftUI|PackageDescription)\n/)
    }
    #expect(blocks.count - compiled.count == 6 && compiled.count == 7)
    for block in compiled {
      let code = block.replacing(/^(import \w+\n)+\n/, with: "")
      #expect(file.contains("\n" + code), "\(code)")
    }
  }

  @Test("the code of the page registers a device and sends its signals")
  func works() async throws {
    let world = ClientWorld()
    let client = try world.client()
    try await registerDevice(client, backgroundToken: Data([1, 2]))
    let found = (kind: "FlightStatus", family: "systemSmall", flight: "UA1545")
    try await widgetsChanged(client, token: Data([3]), [found, found])
    let content = try await fetched(client, instance("FlightStatus", "systemSmall", "UA1545")) { 7 }
    #expect(content == 7)
    let activity = DeviceRegistration.RunningActivity(
      id: "a-1", kind: "Trip", token: PushToken(Data([4])), interests: ["flight/UA1545"], startedAt: world.now)
    try await activityChanged(client, activity, isNew: true)
    try await startTokenChanged(client, kind: "Trip", token: Data([5]), interests: ["flight/UA1545"])
    try await foregroundChanged(client, isForeground: true)
    let registration = try #require(try await client.registration())
    #expect(registration.widgets.map(\.id) == ["FlightStatus/systemSmall/UA1545", "FlightStatus/systemSmall/UA1545/2"])
    #expect(registration.activities.count == 1 && registration.pushToStart.count == 1)
    try await activityEnded(client, id: "a-1", byPerson: true)
    try await signOut(client)
    let words = try await describe(client)
    #expect(words == "0 signals wait, after 0 failures; dropped: 0, damaged: 0, refused: 0")
    let types = try world.requests.filter { $0.method == "POST" }.flatMap { try $0.signals }.compactMap {
      $0["type"] as? String
    }
    #expect(
      types == ["widget.fetched", "activity.started", "app.foregrounded"].map { "rouse.signal.\($0)" },
      "what was not sent before the sign-out is dropped")
    #expect(world.requests.last?.method == "DELETE")
  }

  @Test("the client of the page makes an id for the install")
  func made() async throws {
    let world = ClientWorld()
    let gateway = try #require(URL(string: "http://127.0.0.1:9"))
    let device = try await makeClient(gateway: gateway, container: world.folder, isExtension: false).device()
    let second = makeClient(gateway: gateway, container: world.folder, isExtension: true)
    #expect(try await second.device() == device)
  }
}
