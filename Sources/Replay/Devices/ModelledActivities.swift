package import Domain
import HeapModule
import JSON

/// The Live Activities that pushes start and end on modelled devices, and what these devices and the sender of the pushes say of them.
///
/// A device shows a card for a start. Its app registers the card with its token or its channel, and registers again when the card is gone.
/// A person may remove it, which the app says at once. What is lost, refused or late, the caller decides for each push (`Course`). Pushes
/// to channels always arrive.
package struct ModelledActivities {
  /// The fate of a push.
  package struct Course: Equatable, Sendable {
    /// Whether the sender reports what APNs answered.
    package var isReported = false
    /// Whether APNs takes the push. If not, its token is dead (status 410).
    package var isTaken = true
    /// Whether the device shows the card of a start.
    package var isShown = true
    /// The time from a start until the app registers the card, or from a push that APNs refused until it registers another token; nil: it
    /// never does.
    package var token: TimeSpan? = ModelledActivities.soon
    /// The time from a start until the person removes the card; nil: the card stays.
    package var removal: TimeSpan?
    /// Whether the push and its card are counted.
    package var isCounted = true

    /// Creates the fate of a push to a device on which everything works.
    package init() {}
  }

  /// The numbers of pushes and cards of a run.
  package struct Fates: Equatable, Sendable {
    /// The starts that no device showed.
    package var notShown = 0
    /// The cards without a channel that no app registers.
    package var withoutToken = 0
    /// The cards that a person removed.
    package var removed = 0
    /// The pushes that APNs refused.
    package var refused = 0
  }

  private struct Card {
    var id: Identifier
    var kind: Identifier
    var subject: Identifier
    var startedAt: Timestamp
    /// Absent until the app has registered it.
    var address: PushTarget?
    /// The channel to which the start tells the device to listen; nil if it asks for a token.
    var channel: Identifier?
    var isCounted: Bool
  }

  private struct DeviceCards {
    /// The newest registration from outside, as pushes have changed it since.
    var registration: Registration
    /// The `updatedAt` of the newest registration from outside.
    var heardAt: Timestamp
    /// The `updatedAt` of the newest registration that was given to the planner.
    var saidAt: Timestamp
    var cards: [Card] = []

    init(_ registration: Registration) {
      self.registration = registration
      (heardAt, saidAt) = (registration.updatedAt, registration.updatedAt)
    }

    /// Gives an activity its channel, or a token. Returns whether there is such an activity.
    mutating func address(_ id: Identifier, token: String) -> Bool {
      if let place = cards.firstIndex(where: { $0.id == id }) {
        cards[place].address = cards[place].channel.map { .channel($0) } ?? .token(token)
        return true
      }
      guard let place = registration.activities.firstIndex(where: { $0.id == id }) else { return false }
      registration.activities[place].address = .token(token)
      return true
    }

    /// Returns whether there is a push-to-start token of the kind, which is changed.
    mutating func change(startToken token: String, of kind: Identifier) -> Bool {
      guard let place = registration.pushToStart.firstIndex(where: { $0.kind == kind }) else { return false }
      registration.pushToStart[place].token = token
      return true
    }

    /// Removes the activities that listen to a channel. Returns whether there were any.
    mutating func leave(_ channel: Identifier) -> Bool {
      let before = cards.count + registration.activities.count
      cards.removeAll { $0.channel == channel }
      registration.activities.removeAll { $0.address == .channel(channel) }
      return cards.count + registration.activities.count < before
    }
  }

  /// A thing that is said later.
  private enum Statement {
    case report(Signal)
    case address(of: Identifier)
    case startToken(kind: Identifier)
    case removal(card: Identifier)
    case registration
  }

  private struct Due: Comparable {
    var at: Timestamp
    /// Tells statements of one instant apart, which come in the order in which they were made.
    var number: Int
    var device: Identifier
    var statement: Statement

    static func < (left: Due, right: Due) -> Bool { (left.at, left.number) < (right.at, right.number) }
    static func == (left: Due, right: Due) -> Bool { left.number == right.number }
  }

  /// The numbers so far.
  package private(set) var fates = Fates()
  private var devices: [Identifier: DeviceCards] = [:]
  /// The devices whose activities have listened to a channel.
  private var listeners: [Identifier: Set<Identifier>] = [:]
  private var statements = Heap<Due>()
  private var statementsMade = 0
  private var tokens = 0
  private let reader = JSONReader()

  /// The time from a push to what is said of it at once. Source: none was found.
  package static let soon = TimeSpan.seconds(2)
  /// The longest life of an activity. Source: Apple, "Displaying live data with Live Activities".
  package static let life = TimeSpan.hours(8)

  /// Creates devices without activities.
  package init() {}

  /// Takes a registration from outside.
  /// - Returns: The registration, with the cards that the app has registered since, for the planner.
  package mutating func register(_ registration: Registration) -> Registration {
    let device = registration.device
    guard let known = devices[device] else {
      if !registration.pushToStart.isEmpty || !registration.activities.isEmpty {
        devices[device] = DeviceCards(registration)
        listen(device, registration)
      }
      return registration
    }
    // The planner leaves an older one out, too.
    if registration.updatedAt < known.heardAt { return registration }
    devices[device]?.registration = registration
    devices[device]?.heardAt = registration.updatedAt
    listen(device, registration)
    return self.registration(of: device, at: registration.updatedAt) ?? registration
  }

  private mutating func listen(_ device: Identifier, _ registration: Registration) {
    for activity in registration.activities {
      if case .channel(let channel) = activity.address { listeners[channel, default: []].insert(device) }
    }
  }

  /// Returns the IANA id of the time zone of a device; nil for one that has no activities and that no push can start one on.
  package func timeZone(of device: Identifier) -> String? { devices[device]?.registration.timeZone }

  /// Takes a push to a Live Activity. Others have no effect.
  /// - Parameters:
  ///   - command: The command of the push.
  ///   - course: Its fate.
  /// - Returns: The `event` of its payload, `start`, `update` or `end`; nil for another push.
  @discardableResult
  package mutating func take(_ command: Command, _ course: Course) -> String? {
    guard command.surface.showsActivities, let served = command.serves.first, let push = content(of: command) else {
      return nil
    }
    if case .channel(let channel) = command.apns.address {
      if push.event == "end" { end(channel: channel, command) }
    } else if devices[command.device] != nil {
      if course.isReported { report(command, course) }
      if !course.isTaken {
        if course.isCounted { fates.refused += 1 }
        forgetToken(of: served, isStart: push.event == "start", command, course)
      } else if push.event == "start" {
        start(served.kind, command, channel: push.channel, course)
      } else if push.event == "end" {
        end(served.instance, command)
      }
    }
    return push.event
  }

  /// The time at which something is said next; nil if nothing is.
  package var next: Timestamp? { statements.min?.at }

  /// Takes what is said next.
  /// - Returns: A registration or a signal; nil if the card that it is about is gone.
  package mutating func takeNext() -> LogRecord.Content? {
    guard let due = statements.popMin() else { return nil }
    switch due.statement {
    case .report(let signal): return .signal(signal)
    case .registration: break
    case .address(let id):
      let token = makeToken()
      guard devices[due.device]?.address(id, token: token) == true else { return nil }
    case .startToken(let kind):
      let token = makeToken()
      guard devices[due.device]?.change(startToken: token, of: kind) == true else { return nil }
    case .removal(let id): return removed(id, due)
    }
    return registration(of: due.device, at: due.at).map { .registration($0) }
  }

  // MARK: Pushes

  private func content(of command: Command) -> (event: String, channel: Identifier?)? {
    do throws(JSONError) {
      return try reader.read(Array(command.apns.payload.utf8)) { (root: JSONNode) throws(JSONError) in
        guard let aps = root["aps"], let event = aps["event"]?.stringIfAny else { return nil }
        return (event, aps["input-push-channel"]?.stringIfAny.map { Identifier($0) })
      }
    } catch {
      preconditionFailure("a planner writes payloads that are JSON: \(error)")
    }
  }

  private mutating func start(_ kind: Identifier, _ command: Command, channel: Identifier?, _ course: Course) {
    guard let subject = command.subject else { return }
    guard course.isShown else {
      if course.isCounted { fates.notShown += 1 }
      return
    }
    tokens += 1
    let card = Card(
      id: "started-\(tokens)", kind: kind, subject: subject, startedAt: command.at, address: nil, channel: channel,
      isCounted: course.isCounted)
    devices[command.device]?.cards.append(card)
    if let channel { listeners[channel, default: []].insert(command.device) }
    if let delay = course.token {
      say(.address(of: card.id), command.device, at: command.at + delay)
    } else if channel == nil, course.isCounted {
      fates.withoutToken += 1
    }
    if let delay = course.removal { say(.removal(card: card.id), command.device, at: command.at + delay) }
  }

  private mutating func end(_ instance: Identifier, _ command: Command) {
    devices[command.device]?.cards.removeAll { $0.id == instance }
    devices[command.device]?.registration.activities.removeAll { $0.id == instance }
    say(.registration, command.device, at: command.at + Self.soon)
  }

  /// Ends the activities that listen to a channel.
  private mutating func end(channel: Identifier, _ command: Command) {
    for device in (listeners[channel] ?? []).sorted() {
      guard let known = devices[device]?.registration, known.app == command.app,
        known.environment == command.environment
      else { continue }
      listeners[channel]?.remove(device)
      if devices[device]?.leave(channel) == true { say(.registration, device, at: command.at + Self.soon) }
    }
  }

  private mutating func report(_ command: Command, _ course: Course) {
    let answer = Signal.APNsAnswer(
      status: course.isTaken ? 200 : 410, reason: course.isTaken ? nil : "Unregistered")
    let signal = Signal(
      device: command.device, id: "report-\(command.command)", time: command.at + Self.soon,
      kind: .deliveryCompleted(
        command: command.command, outcome: course.isTaken ? .accepted : .refused, answer: answer))
    say(.report(signal), command.device, at: signal.time)
  }

  /// Lets the app register another token in place of one that APNs has refused.
  private mutating func forgetToken(
    of served: Command.Served, isStart: Bool, _ command: Command, _ course: Course
  ) {
    guard let delay = course.token else { return }
    say(
      isStart ? .startToken(kind: served.kind) : .address(of: served.instance), command.device,
      at: command.at + delay)
  }

  // MARK: What is said

  private mutating func removed(_ id: Identifier, _ due: Due) -> LogRecord.Content? {
    guard let place = devices[due.device]?.cards.firstIndex(where: { $0.id == id }),
      let card = devices[due.device]?.cards.remove(at: place), due.at - card.startedAt < Self.life
    else { return nil }
    if card.isCounted { fates.removed += 1 }
    say(.registration, due.device, at: due.at)
    return .signal(
      Signal(
        device: due.device, id: "removed-\(id)", time: due.at,
        kind: .activityDismissed(
          Signal.ReportedActivity(instance: id, kind: card.kind, subject: card.subject))))
  }

  private mutating func say(_ statement: Statement, _ device: Identifier, at time: Timestamp) {
    statementsMade += 1
    statements.insert(Due(at: time, number: statementsMade, device: device, statement: statement))
  }

  private mutating func makeToken() -> String {
    tokens += 1
    let digits = String(tokens, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
  }

  /// Returns what a device registers now, without the activities that the system has ended; nil for a device that has registered nothing.
  private mutating func registration(of device: Identifier, at time: Timestamp) -> Registration? {
    guard var known = devices[device] else { return nil }
    known.cards.removeAll { time - $0.startedAt >= Self.life }
    known.registration.activities.removeAll { time - $0.startedAt >= Self.life }
    known.saidAt = max(time, known.saidAt)
    devices[device] = known
    var registration = known.registration
    registration.updatedAt = known.saidAt
    registration.activities += known.cards.compactMap { card in
      card.address.map { address in
        Registration.Activity(
          id: card.id, kind: card.kind, address: address, interests: [card.subject], startedAt: card.startedAt)
      }
    }
    return registration
  }
}
