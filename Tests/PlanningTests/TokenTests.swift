import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

/// Tests of what a token is, and of whose it is.
@Suite("Tokens")
struct TokenTests {
  private static func phone(
    _ device: Identifier, _ token: String?, minute: Int64 = 0, environment: Registration.Environment = .production,
    app: Identifier = "com.example.flights", controlToken: String? = nil
  ) -> Registration {
    var phone = Registration.phone(
      device, tokens: Registration.Tokens(widgets: token), at: H.noon + minute * H.minute, app: app)
    phone.environment = environment
    if let controlToken {
      phone.controls = [
        Registration.Control(id: "c1", kind: "FlightStatus", token: controlToken, interests: ["flight/UA1"])
      ]
    }
    return phone
  }

  private static func harness(restarts: Bool) -> H {
    var h = H()
    h.losesPlanner = { restarts }
    return h
  }

  private static func reasons(_ h: H) -> [Identifier: Reason] {
    Dictionary(h.last.map { ("\($0.device)/\($0.instance)" as Identifier, $0.reason) }) { $1 }
  }

  @Test(
    "a token that two installs have registered is pushed once, to the newer registration", arguments: [false, true])
  func oneToken(restarts: Bool) {
    var h = Self.harness(restarts: restarts)
    h.register(Self.phone("old", "5a4d5a4d"), at: H.noon)
    h.register(Self.phone("new", "5A4D5A4D", minute: 1), at: H.noon + H.minute)
    h.event(.delay(30, id: "e1", at: H.noon + 2 * H.minute))
    #expect(Self.reasons(h) == ["old/w1": .noToken, "new/w1": .emitted])
    #expect(h.lastCommands.map(\.device) == ["new"])
    // An older registration that comes late takes nothing.
    h.register(Self.phone("older", "5a4d5a4d", minute: -1), at: H.noon + 3 * H.minute)
    h.event(.delay(60, id: "e2", at: H.noon + 4 * H.minute))
    #expect(Self.reasons(h) == ["old/w1": .noToken, "new/w1": .emitted, "older/w1": .noToken])
    // The first install takes the token back when it registers again.
    h.register(Self.phone("old", "5a4d5a4d", minute: 5), at: H.noon + 5 * H.minute)
    h.event(.delay(90, id: "e3", at: H.noon + 6 * H.minute))
    #expect(h.lastCommands.map(\.device) == ["old"])
  }

  @Test("a token of another app or environment is another token")
  func identity() {
    var h = H()
    h.register(Self.phone("d1", "5a4d"))
    h.register(Self.phone("d2", "5a4d", minute: 1, environment: .sandbox))
    h.register(Self.phone("d3", "5a4d", minute: 2, app: "com.example.other"))
    h.event(.delay(30, id: "e1", at: H.noon + 3 * H.minute))
    #expect(Set(h.lastCommands.map(\.device)) == ["d1", "d2", "d3"])
  }

  @Test("controls, activities and push-to-start tokens have one owner, too", arguments: [false, true])
  func addressed(restarts: Bool) {
    var h = Self.harness(restarts: restarts)
    h.register(Self.phone("old", "aa", controlToken: "CC0D"), at: H.noon)
    h.register(Self.phone("new", "bb", minute: 1, controlToken: "cc0d"), at: H.noon + H.minute)
    h.event(.delay(30, id: "e1", at: H.noon + 2 * H.minute))
    let reasons = Self.reasons(h)
    #expect(reasons["old/c1"] == .noToken && reasons["new/c1"] == .emitted)
    #expect(reasons["old/w1"] == .emitted && reasons["new/w1"] == .emitted)
  }

  @Test("what waits on a device that loses its token ends")
  func waiting() {
    var h = H(.flights { $0.budget.minInterval = .minutes(15) })
    h.register(Self.phone("old", "5a4d"))
    h.event(.delay(30, id: "e1", at: H.noon))
    h.event(.delay(60, id: "e2", at: H.noon + H.minute))
    #expect(h.only?.reason == .minInterval)
    h.register(Self.phone("new", "5a4d", minute: 2), at: H.noon + 2 * H.minute)
    h.drain(until: H.noon + H.hour)
    #expect(h.decisions.last { $0.device == "old" }?.final == true)
    #expect(h.commands.count { $0.device == "old" } == 1)
  }

  @Test("a forgotten device holds no token, and its token is free")
  func forgotten() {
    var h = H()
    h.register(Self.phone("old", "5a4d", minute: 1), at: H.noon + H.minute)
    h.apply(.forget(device: "old"), at: H.noon + 2 * H.minute)
    h.register(Self.phone("new", "5a4d"), at: H.noon + 3 * H.minute)
    h.event(.delay(30, id: "e1", at: H.noon + 4 * H.minute))
    #expect(h.lastCommands.map(\.device) == ["new"])
  }

  @Test("a token is refused in any letter case", arguments: ["ABCDEF01", "abcdef01", "AbCdEf01"])
  func refused(spelling: String) {
    var h = H()
    h.register(Self.phone("d1", "ABCDEF01", controlToken: "ABCDEF02"))
    h.signal(.tokenRejected(token: spelling), at: H.noon + H.minute)
    h.signal(.tokenRejected(token: "abcdef02"), at: H.noon + H.minute)
    h.event(.delay(30, id: "e1", at: H.noon + 2 * H.minute))
    #expect(Self.reasons(h) == ["d1/w1": .tokenDead, "d1/c1": .tokenDead])
    // The same token in another spelling is no new one.
    h.register(Self.phone("d1", "abcdef01", minute: 3, controlToken: "abcdef02"), at: H.noon + 3 * H.minute)
    h.event(.delay(60, id: "e2", at: H.noon + 4 * H.minute))
    #expect(Self.reasons(h) == ["d1/w1": .tokenDead, "d1/c1": .tokenDead])
  }

  @Test(
    "a refused token that is registered in the right environment, or for the right app, lives",
    arguments: [false, true])
  func mended(byApp: Bool) {
    var h = H()
    h.register(Self.phone("d1", "5a4d", controlToken: "cc0d"))
    for token in ["5a4d", "cc0d"] { h.signal(.tokenRejected(token: token), at: H.noon + H.minute) }
    h.register(
      Self.phone(
        "d1", "5a4d", minute: 2, environment: byApp ? .production : .sandbox,
        app: byApp ? "com.example.other" : "com.example.flights", controlToken: "cc0d"), at: H.noon + 2 * H.minute)
    h.event(.delay(30, id: "e1", at: H.noon + 3 * H.minute))
    #expect(Self.reasons(h) == ["d1/w1": .emitted, "d1/c1": .emitted])
    h.register(Self.phone("d1", "5a4d", minute: 4, controlToken: "cc0d"), at: H.noon + 4 * H.minute)
    h.event(.delay(60, id: "e2", at: H.noon + 5 * H.minute))
    #expect(Self.reasons(h) == ["d1/w1": .emitted, "d1/c1": .emitted])
  }

  /// The planners of a log with two partitions, which get each other's claims.
  private struct Two {
    var planners = [H(partition: 0, partitionCount: 2), H(partition: 1, partitionCount: 2)]
    /// The claims that are under way to each planner.
    var underway: [[TokenClaim]] = [[], []]
    var claimsMade = 0

    mutating func register(_ registration: Registration, in partition: Int, at time: Int64) {
      planners[partition].register(registration, at: time)
      collect(from: partition)
    }

    mutating func collect(from partition: Int) {
      let claims = planners[partition].planner.takeClaims()
      claimsMade += claims.count
      underway[1 - partition] += claims
    }

    /// Delivers claims until none is under way.
    mutating func deliver(at time: Int64) {
      var rounds = 0
      while let partition = underway.indices.first(where: { !underway[$0].isEmpty }) {
        let claims = underway[partition]
        underway[partition] = []
        planners[partition].apply(.claims(claims), at: time)
        collect(from: partition)
        rounds += 1
        precondition(rounds < 10, "claims keep coming")
      }
    }

    /// Returns the devices that an event is pushed to.
    mutating func pushed(_ event: DomainEvent) -> [Identifier] {
      for partition in planners.indices { planners[partition].event(event) }
      return planners.flatMap { $0.lastCommands.map(\.device) }
    }
  }

  @Test(
    "one token, one push, in a log of two partitions, whichever registration and whichever claim comes first",
    arguments: [false, true], [false, true])
  func partitions(newerComesFirst: Bool, claimsComeLate: Bool) {
    var two = Two()
    let old = Self.phone("old", "5a4d5a4d", controlToken: "cc0d")
    let new = Self.phone("new", "5A4D5A4D", minute: 1, controlToken: "CC0D")
    let time = H.noon + 2 * H.minute
    for isNew in [newerComesFirst, !newerComesFirst] {
      two.register(isNew ? new : old, in: isNew ? 1 : 0, at: time)
      if !claimsComeLate { two.deliver(at: time) }
    }
    two.deliver(at: time)
    #expect(two.pushed(.delay(30, id: "e1", at: time + H.minute)) == ["new", "new"], "its widget, and its control")
    // A registration that changes nothing claims nothing.
    let made = two.claimsMade
    two.register(Self.phone("new", "5a4d5a4d", minute: 4, controlToken: "cc0d"), in: 1, at: time + 2 * H.minute)
    #expect(two.claimsMade == made)
    // The old install takes its tokens back with a newer registration.
    two.register(Self.phone("old", "5a4d5a4d", minute: 5, controlToken: "cc0d"), in: 0, at: time + 3 * H.minute)
    two.deliver(at: time + 3 * H.minute)
    // It also catches up with what it missed.
    #expect(Set(two.pushed(.delay(60, id: "e2", at: time + 4 * H.minute))) == ["old"])
  }

  @Test("of registrations of one time in two partitions, one device has the token", arguments: [false, true])
  func sameTime(claimsComeLate: Bool) {
    var two = Two()
    for (partition, device) in ["a", "b"].enumerated() as EnumeratedSequence<[Identifier]> {
      two.register(Self.phone(device, "5a4d"), in: partition, at: H.noon)
      if !claimsComeLate { two.deliver(at: H.noon) }
    }
    two.deliver(at: H.noon)
    #expect(two.pushed(.delay(30, id: "e1", at: H.noon + H.minute)) == ["b"])
  }

  @Test("claims that come again, or for other apps and environments, change nothing")
  func repeatedClaims() {
    var two = Two()
    two.register(Self.phone("old", "5a4d"), in: 0, at: H.noon)
    two.register(Self.phone("new", "5a4d", minute: 1), in: 1, at: H.noon + H.minute)
    let claims = two.underway
    two.deliver(at: H.noon + H.minute)
    two.underway = claims
    two.deliver(at: H.noon + 2 * H.minute)
    for (app, environment) in [("com.example.flights", "sandbox"), ("com.example.other", "production")] {
      two.planners[1].apply(
        .claims([
          TokenClaim(
            device: "x", app: Identifier(app), environment: environment == "sandbox" ? .sandbox : .production,
            updatedAt: Timestamp(microseconds: H.noon + H.hour), tokens: ["5a4d"])
        ]), at: H.noon + 2 * H.minute)
    }
    #expect(two.pushed(.delay(30, id: "e1", at: H.noon + 3 * H.minute)) == ["new"])
  }

  @Test("a claim is a log record like any other")
  func record() throws {
    let claims = [
      TokenClaim(
        device: "d1", app: "com.example.flights", environment: .sandbox, updatedAt: Timestamp(microseconds: 7),
        tokens: ["5a4d", "cc0d"])
    ]
    var bytes: [UInt8] = []
    LogRecord(origin: nil, content: .claims(claims)).encode(into: &bytes)
    #expect(try LogRecord(bytes: bytes) == LogRecord(origin: nil, content: .claims(claims)))
  }

  @Test("a log with one partition has no claims")
  func onePartition() {
    var h = H()
    h.register(Self.phone("d1", "5a4d"))
    #expect(h.planner.claims.isEmpty)
  }
}
