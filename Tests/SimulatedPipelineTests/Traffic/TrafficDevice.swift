import Domain

/// The content of a device and the ways to reach it, as its app's backend knows them. They may change with each
/// registration.
struct TrafficDevice {
  let index: Int
  /// The number of tokens that the device had so far, by `Reach`; the number is part of the token.
  private var tokensMade = [0, 0, 0, 0]
  private var hasControl: Bool
  private var canBeStarted: Bool
  private var activity: Activity?
  private var activitiesMade = 0
  /// The start of the broadcast that its match activity listens to.
  private var matchStartedAt: Timestamp?
  private var app = Traffic.apps[0]
  private static let zones = ["America/New_York", "Europe/Rome", "Asia/Kolkata"]

  private struct Activity {
    var id: Identifier
    var startedAt: Timestamp
    var interests: [Identifier]
    var frequentPushes: Bool
  }

  /// The target of a token.
  private enum Reach: Int, CaseIterable { case widgets, background, control, starter }

  init(index: Int, random: inout SeededRandom) {
    self.index = index
    hasControl = random.chance(1, in: 2)
    canBeStarted = random.chance(1, in: 2)
  }

  var id: Identifier { "d\(index)" }

  /// Returns the token in use; hexadecimal, as all tokens are.
  private func token(_ reach: Reach) -> String {
    "\(["aa", "bb", "cc", "dd"][reach.rawValue])\(index)a\(tokensMade[reach.rawValue])"
  }

  /// Returns a token in use, chosen at random.
  func someToken(_ random: inout SeededRandom) -> String {
    if let activity, random.chance(1, in: 4) { return Self.token(activity) }
    return token(Reach.allCases[random.below(Reach.allCases.count)])
  }

  private static func token(_ activity: Activity) -> String { "ee\(activity.id.text.dropFirst())" }

  /// The id of the activity that runs, or of the first one.
  var activityID: Identifier { activity?.id ?? "a\(index)a1" }

  /// Changes the device at random and returns its registration.
  mutating func registration(now: Timestamp, random: inout SeededRandom) -> Registration {
    change(now: now, random: &random)
    let backgroundToken = random.chance(1, in: 2) ? token(.background) : nil
    return Registration(
      device: id, app: app, environment: .production, platform: "iOS",
      osVersion: OSVersion(major: random.pick([(26, 6), (18, 2), (17, 1)]), minor: 2),
      timeZone: Self.zones[index % Self.zones.count], developerMode: random.chance(1, in: 12),
      tokens: Registration.Tokens(
        widgets: random.chance(7, in: 8) ? token(.widgets) : nil, background: backgroundToken),
      widgets: widgets(now: now, random: &random), controls: controls(random: &random), activities: activities,
      pushToStart: canBeStarted
        ? [
          Registration.PushToStart(
            kind: "FlightActivity", token: token(.starter), interests: Array(Traffic.flights.dropFirst()))
        ] : [],
      updatedAt: now)
  }

  private mutating func change(now: Timestamp, random: inout SeededRandom) {
    if random.chance(1, in: 4) { tokensMade[random.below(tokensMade.count)] += 1 }
    if random.chance(1, in: 10) { hasControl.toggle() }
    if random.chance(1, in: 10) { canBeStarted.toggle() }
    if random.chance(activity == nil ? 2 : 1, in: 4) {
      activitiesMade += 1
      activity =
        random.chance(4, in: 5)
        ? Activity(
          id: "a\(index)a\(activitiesMade)",
          startedAt: Timestamp(microseconds: now.microseconds - Int64(random.below(600)) * 1_000_000),
          interests: [Traffic.flights[(index + activitiesMade) % Traffic.flights.count]],
          frequentPushes: random.chance(1, in: 4)) : nil
    }
    // The person may change this setting while the activity runs.
    if random.chance(1, in: 6) { activity?.frequentPushes.toggle() }
    if random.chance(1, in: 2) { app = Traffic.apps[random.chance(1, in: 2) ? 0 : random.below(Traffic.apps.count)] }
    if random.chance(1, in: 4) { matchStartedAt = matchStartedAt == nil ? now : nil }
  }

  private func widgets(now: Timestamp, random: inout SeededRandom) -> [Registration.Widget] {
    var widgets = [
      Registration.Widget(
        id: "w1", kind: "FlightStatus", pushEnabled: random.chance(7, in: 8),
        interests: [Traffic.subjects[index % Traffic.subjects.count]],
        nextReload: random.chance(1, in: 8) ? Timestamp(microseconds: now.microseconds + 1_200_000_000) : nil)
    ]
    if random.chance(2, in: 3) {
      widgets.append(
        Registration.Widget(
          id: "w2", kind: "Score", interests: [Traffic.subject(&random), Traffic.subject(&random)]))
    }
    // The same id belongs to a control at one time and to a widget at another, of the same kind.
    if !hasControl, random.chance(1, in: 3) {
      widgets.append(Registration.Widget(id: "c1", kind: "GateControl", interests: [Traffic.subject(&random)]))
    }
    return widgets
  }

  private func controls(random: inout SeededRandom) -> [Registration.Control] {
    guard hasControl else { return [] }
    return [
      Registration.Control(
        id: "c1", kind: "GateControl", token: token(.control),
        interests: [Traffic.subjects[index % Traffic.subjects.count], Traffic.subject(&random)])
    ]
  }

  private var activities: [Registration.Activity] {
    var activities: [Registration.Activity] = []
    if let activity {
      activities.append(
        Registration.Activity(
          id: activity.id, kind: "FlightActivity", address: .token(Self.token(activity)),
          interests: activity.interests, startedAt: activity.startedAt, frequentPushes: activity.frequentPushes))
    }
    if let matchStartedAt {
      // All devices register the same for a channel, except for the start.
      activities.append(
        Registration.Activity(
          id: "m1", kind: "MatchActivity", address: .channel("chan\(index % Traffic.channels)"),
          interests: [Traffic.team, Traffic.flights[index % Traffic.channels]], startedAt: matchStartedAt))
    }
    return activities
  }
}
