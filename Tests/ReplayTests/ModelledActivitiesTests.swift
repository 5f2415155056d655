import Domain
import Testing

@testable import Replay

@Suite("Live Activities on modelled devices")
struct ModelledActivitiesTests {
  private static let registration = Registration(
    device: "phone", app: "a.b", environment: .production, platform: "iOS", osVersion: OSVersion(major: 26, minor: 1),
    timeZone: "GMT",
    pushToStart: [Registration.PushToStart(kind: "Match", token: "cd", interests: ["team/ITA"])],
    updatedAt: Timestamp(microseconds: 0))

  private static func at(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds * 1_000_000) }

  private static func command(
    _ event: String, at seconds: Int64, on instance: Identifier = "start/Match", subject: Identifier? = nil,
    channel: String? = nil
  ) -> Command {
    let asks = channel.map { #","input-push-channel":"\#($0)""# } ?? ""
    return Command(
      command: "c\(seconds)", device: "phone", app: "a.b", environment: .production, surface: .liveActivity,
      serves: [Command.Served(instance: instance, kind: "Match", events: [], reason: .emitted)], charged: [],
      apns: Command.APNs(
        address: .token("cd"), headers: [], payload: #"{"aps":{"timestamp":1,"event":"\#(event)"\#(asks)}}"#),
      at: at(seconds), expires: at(seconds), policy: PolicyReference(version: "1", hash: "0"), subject: subject)
  }

  /// Everything that the devices say, with the seconds at which they do.
  private static func said(_ devices: inout ModelledActivities) -> [(at: Int64, content: LogRecord.Content?)] {
    var said: [(at: Int64, content: LogRecord.Content?)] = []
    while let next = devices.next { said.append((next.microseconds / 1_000_000, devices.takeNext())) }
    return said
  }

  private static func registered(_ content: LogRecord.Content?) throws -> Registration {
    guard case .registration(let registration)? = content else { throw Missing() }
    return registration
  }
  private struct Missing: Error {}

  @Test("a device registers the card of a start after two seconds under its subject, and without it after the end")
  func startAndEnd() throws {
    var devices = ModelledActivities()
    #expect(devices.register(Self.registration) == Self.registration)
    devices.take(Self.command("start", at: 10, subject: "match/1"), ModelledActivities.Course())
    var said = Self.said(&devices)
    #expect(said.map(\.at) == [12])
    let first = try Self.registered(said[0].content)
    #expect(first.updatedAt == Self.at(12))
    #expect(first.activities.map(\.interests) == [["match/1"]])
    #expect(first.activities.map(\.startedAt) == [Self.at(10)])
    // The next registration from outside keeps what the device shows.
    var later = Self.registration
    later.updatedAt = Self.at(20)
    #expect(devices.register(later).activities == first.activities)
    devices.take(
      Self.command("end", at: 30, on: first.activities[0].id), ModelledActivities.Course())
    said = Self.said(&devices)
    #expect(said.map(\.at) == [32])
    #expect(try Self.registered(said[0].content).activities.isEmpty)
    #expect(devices.fates == ModelledActivities.Fates())
  }

  @Test("a device listens to the channel that a start names, and the system ends a card after eight hours")
  func channel() throws {
    var devices = ModelledActivities()
    _ = devices.register(Self.registration)
    devices.take(Self.command("start", at: 0, subject: "match/1", channel: "dHN0"), ModelledActivities.Course())
    let said = Self.said(&devices)
    #expect(try Self.registered(said[0].content).activities.map(\.address) == [.channel("dHN0")])
    var course = ModelledActivities.Course()
    course.token = nil
    devices.take(Self.command("start", at: 1, subject: "match/2", channel: "dHN0"), course)
    #expect(devices.fates.withoutToken == 0, "it needs none")
    var later = Self.registration
    later.updatedAt = Self.at(8 * 3600)
    #expect(devices.register(later).activities.isEmpty)
  }

  @Test("of a start that APNs refuses the sender tells, and the app registers another token")
  func refusedStart() throws {
    var devices = ModelledActivities()
    _ = devices.register(Self.registration)
    var course = ModelledActivities.Course()
    (course.isTaken, course.isReported, course.token) = (false, true, .seconds(60))
    devices.take(Self.command("start", at: 10, subject: "match/1"), course)
    let said = Self.said(&devices)
    #expect(said.map(\.at) == [12, 70])
    guard case .signal(let report)? = said[0].content else { throw Missing() }
    #expect(
      report.kind
        == .deliveryCompleted(
          command: "c10", outcome: .refused, answer: Signal.APNsAnswer(status: 410, reason: "Unregistered")))
    let registration = try Self.registered(said[1].content)
    #expect(registration.activities.isEmpty)
    #expect(registration.pushToStart.count == 1 && registration.pushToStart[0].token != "cd")
    #expect(devices.fates.refused == 1)
  }

  @Test("a card whose update is refused gets another token; one that a person removes is told of and gets none")
  func refusedUpdateAndRemoval() throws {
    var devices = ModelledActivities()
    _ = devices.register(Self.registration)
    var course = ModelledActivities.Course()
    course.removal = .seconds(100)
    devices.take(Self.command("start", at: 0, subject: "match/1"), course)
    guard case .registration(let first)? = devices.takeNext() else { throw Missing() }
    let card = first.activities[0]
    (course.isTaken, course.token) = (false, .seconds(10))
    devices.take(Self.command("update", at: 20, on: card.id), course)
    guard case .registration(let second)? = devices.takeNext() else { throw Missing() }
    #expect(second.activities[0].id == card.id)
    #expect(second.activities[0].address != card.address)
    course.token = .seconds(90)
    devices.take(Self.command("update", at: 40, on: card.id), course)
    let said = Self.said(&devices)
    #expect(said.map(\.at) == [100, 100, 130])
    guard case .signal(let signal)? = said[0].content else { throw Missing() }
    #expect(
      signal.kind
        == .activityDismissed(Signal.ReportedActivity(instance: card.id, kind: "Match", subject: "match/1")))
    #expect(try Self.registered(said[1].content).activities.isEmpty)
    #expect(said[2].content == nil, "the card is gone")
    #expect(devices.fates.removed == 1)
  }

  @Test("a start that the device does not show is not registered, and one without a token never")
  func lost() {
    var devices = ModelledActivities()
    _ = devices.register(Self.registration)
    var course = ModelledActivities.Course()
    course.isShown = false
    devices.take(Self.command("start", at: 0, subject: "match/1"), course)
    (course.isShown, course.token) = (true, nil)
    devices.take(Self.command("start", at: 5, subject: "match/1"), course)
    #expect(devices.next == nil)
    #expect(devices.fates.notShown == 1)
    #expect(devices.fates.withoutToken == 1)
  }

  @Test(
    "an activity that a file lists gets another token after a refusal, and the end of its channel ends one that listens"
  )
  func activitiesOfFiles() throws {
    var devices = ModelledActivities()
    var registration = Self.registration
    registration.activities = [
      Registration.Activity(
        id: "a", kind: "Match", address: .token("aa"), interests: ["match/1"], startedAt: Self.at(0)),
      Registration.Activity(
        id: "b", kind: "Match", address: .channel("dHN0"), interests: ["match/2"], startedAt: Self.at(0)),
    ]
    _ = devices.register(registration)
    var course = ModelledActivities.Course()
    course.isTaken = false
    devices.take(Self.command("update", at: 10, on: "a"), course)
    let second = try Self.registered(Self.said(&devices).last?.content)
    #expect(second.activities.map(\.id) == ["a", "b"])
    #expect(second.activities[0].address != .token("aa"))
    #expect(second.activities[1].address == .channel("dHN0"))
    devices.take(Self.command("start", at: 20, subject: "match/2", channel: "dHN0"), ModelledActivities.Course())
    #expect(try Self.registered(Self.said(&devices).last?.content).activities.count == 3)
    var end = Self.command("end", at: 30, on: "activity")
    end.device = "channel/a.b/production/dHN0"
    end.apns.address = .channel("dHN0")
    end.environment = .sandbox
    devices.take(end, ModelledActivities.Course())
    #expect(devices.next == nil, "the channel of another environment")
    end.environment = .production
    devices.take(end, ModelledActivities.Course())
    #expect(try Self.registered(Self.said(&devices).last?.content).activities.map(\.id) == ["a"])
  }

  @Test("an older registration of a file changes nothing, and one that is read late is as new as what was said before")
  func orderOfRegistrations() throws {
    var devices = ModelledActivities()
    var newer = Self.registration
    newer.updatedAt = Self.at(100)
    newer.pushToStart[0].token = "ee"
    _ = devices.register(newer)
    #expect(devices.register(Self.registration) == Self.registration)
    devices.take(Self.command("start", at: 110, subject: "match/1"), ModelledActivities.Course())
    let said = try Self.registered(Self.said(&devices).last?.content)
    #expect(said.pushToStart[0].token == "ee" && said.updatedAt == Self.at(112))
    var late = Self.registration
    late.updatedAt = Self.at(111)
    late.pushToStart[0].token = "ff"
    let passed = devices.register(late)
    #expect(passed.pushToStart[0].token == "ff" && passed.updatedAt == Self.at(112))
    #expect(passed.activities.count == 1)
  }
}
