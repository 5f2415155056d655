import Domain
import Testing

@testable import Planning

@Suite("The life of a Live Activity") struct ActivityLifeTests {
  private static let instant = Timestamp(microseconds: PlannerHarness.noon)
  private static let states: [ActivityLife] = [
    .notStarted, .startSent, .awaitingToken, .running(onChannel: false), .tokenDead, .ending,
    .ended(at: instant), .dismissed(at: instant),
  ]

  /// The legal ways into each state, as the picture above `ActivityLife` draws them.
  private static let into: [(next: ActivityLife, from: [ActivityLife])] = [
    (.notStarted, [.startSent]),
    (.startSent, [.notStarted, .startSent, .awaitingToken, .ended(at: instant), .dismissed(at: instant)]),
    (.awaitingToken, [.notStarted, .startSent, .ended(at: instant), .dismissed(at: instant)]),
    (.running(onChannel: false), states),
    (.tokenDead, [.running(onChannel: false), .ending]),
    (.ending, [.running(onChannel: false)]),
    (.ended(at: instant), states), (.dismissed(at: instant), states),
  ]

  @Test("each state is reached from those that the picture shows, and from no other", arguments: states)
  func transitions(next: ActivityLife) throws {
    let legal = try #require(Self.into.first { $0.next == next }?.from)
    for state in Self.states {
      #expect(state.leads(to: next) == legal.contains(state), "\(state) to \(next)")
    }
  }

  @Test("a start that was taken or registered is on the screen until its life is over")
  func lifeEnds() {
    var activity = SubjectActivity(subject: "flight/UA1", at: Self.instant)
    #expect(!activity.life(at: Self.instant).isOnScreen)
    activity.start(
      served: Self.instant, telling: AddressedState.Told(), by: AddressedState.SentPush(), at: Self.instant)
    activity.noteAccepted(onChannel: false, at: Self.instant)
    #expect(activity.life(at: Self.instant) == .awaitingToken)
    activity.run(.running(onChannel: false), startedAt: Self.instant, at: Self.instant)
    let end = Self.instant + ActivityTimes.startedLife
    #expect(activity.life(at: end - TimeSpan(microseconds: 1)).isOnScreen)
    #expect(activity.life(at: end) == .ended(at: end))
  }

  @Test("a report about a start that comes when its life is over changes nothing")
  func reportAfterLife() {
    var activity = SubjectActivity(subject: "flight/UA1", at: Self.instant)
    activity.start(
      served: Self.instant, telling: AddressedState.Told(), by: AddressedState.SentPush(), at: Self.instant)
    let end = Self.instant + ActivityTimes.startedLife
    activity.noteRefused(isForGood: false, at: end)
    activity.noteAccepted(onChannel: false, at: end)
    #expect(activity.life(at: end) == .ended(at: end) && activity.push == nil)
  }

  @Test("an end does not undo a dismissal, and a late report about a start changes nothing behind a registration")
  func late() {
    var activity = SubjectActivity(subject: "flight/UA1", at: Self.instant)
    activity.start(
      served: Self.instant, telling: AddressedState.Told(), by: AddressedState.SentPush(), at: Self.instant)
    activity.run(.running(onChannel: false), startedAt: Self.instant, at: Self.instant)
    activity.noteRefused(isForGood: false, at: Self.instant)
    #expect(activity.life(at: Self.instant) == .running(onChannel: false))
    activity.close(.dismissed(at: Self.instant), startedAt: nil, served: Self.instant, at: Self.instant)
    activity.close(.ended(at: Self.instant), startedAt: nil, served: Self.instant, at: Self.instant)
    #expect(activity.life(at: Self.instant) == .dismissed(at: Self.instant))
    let forgotten = Self.instant + ActivityTimes.dismissalMemory
    #expect(activity.life(at: forgotten) == .ended(at: Self.instant))
  }

  @Test("a registered activity runs until its end is taken, and a refused token is dead")
  func registered() {
    var state = AddressedState()
    state.address(token: "cc01", isChannel: false)
    #expect(state.life == .running(onChannel: false))
    state.send(AddressedState.SentPush(offset: 1, isEnd: true), isNews: true)
    state.end()
    #expect(state.life == .ending)
    state.noteAccepted()
    #expect(!state.life.isOnScreen && state.endCounts == nil)
    state.reopen(at: Self.instant)
    state.reject()
    #expect(state.life == .tokenDead)
  }

  @Test("beyond the bound of subjects the one that may be forgotten first is forgotten, not one that is on the screen")
  func bound() {
    var state = AddressedState()
    func know(_ subject: Identifier, _ change: (inout SubjectActivity) -> Void) {
      state.know(subject, subjectsMax: 2, now: Self.instant, change)
    }
    know("a") { $0.run(.awaitingToken, startedAt: Self.instant, at: Self.instant) }
    know("b") { $0.serve(upTo: Self.instant) }
    know("c") { $0.run(.awaitingToken, startedAt: Self.instant, at: Self.instant) }
    #expect(state.subjects.map(\.subject) == ["a", "c"])
  }
}
