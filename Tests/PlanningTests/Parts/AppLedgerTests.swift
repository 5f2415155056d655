import Domain
import Policies
import Testing

@testable import Planning

@Suite("Apps")
struct AppLedgerTests {
  private struct Model {
    var devices = 0
    /// The tokens spent by UTC day.
    var spent: [Int64: Int] = [:]
    /// The refunds by UTC day.
    var refunds: [Int64: Int] = [:]
    /// The step of the last charge, and its UTC day.
    var last: (step: Int64, day: Int64) = (-1, -1)
  }

  @Test("the apps are those of a dictionary, over random devices and charges")
  func model() throws {
    for seed in 1...15 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var ledgers = Ledgers(PolicyProfiles.standard)
      var model: [Identifier: Model] = [:]
      var now = Timestamp(microseconds: 1_782_907_200_000_000)
      for step in 0..<200 {
        let context = "seed \(seed), step \(step)"
        now = now + .minutes(Int64(random.below(4 * 60)))
        let today = now.microseconds / 86_400_000_000
        let id: Identifier = "com.example.\(random.below(5))"
        let known = model[id]
        switch random.below(4) {
        case 0, 1:
          let app = ledgers.apps.slot(id, limit: 10)
          ledgers.apps.join(app)
          model[id, default: Model()].devices += 1
        case 2:
          guard let known, known.devices > 0 else { break }
          let app = ledgers.apps.slot(id, limit: 10)
          let removed = ledgers.apps.leave(app, now: now)
          model[id]?.devices -= 1
          let isOver =
            known.devices == 1 && known.spent[today, default: 0] == 0 && known.refunds[today, default: 0] == 0
          if isOver { model[id] = nil }
          let hasRecord = !known.spent.isEmpty || !known.refunds.isEmpty
          #expect(removed == (isOver && hasRecord ? id : nil), "\(context)")
        default:
          guard known != nil else { break }
          let app = ledgers.apps.slot(id, limit: 10)
          if random.chance(1, in: 4) {
            ledgers.apps.refund(app, chargedAt: known?.last.step ?? -1, now: now)
            model[id]?.refunds[today, default: 0] += 1
            if known?.last.day == today, known?.spent[today, default: 0] ?? 0 > 0 {
              model[id]?.spent[today, default: 0] -= 1
            }
          } else {
            ledgers.apps.charge(app, at: Int64(step), now: now)
            model[id]?.spent[today, default: 0] += 1
            model[id]?.last = (Int64(step), today)
          }
        }
        ledgers.checkInvariants { _ in true }
        #expect(ledgers.apps.slotByID.keys.sorted() == model.keys.sorted(), "\(context)")
        for (id, app) in model {
          let slot = ledgers.apps.slot(id, limit: 10)
          #expect(ledgers.apps.refunds(slot, now: now) == app.refunds[today, default: 0], "\(context)")
          let left = ledgers.apps.tokensLeft(slot, now: now)
          #expect(left == max(0, 10 - app.spent[today, default: 0]), "\(context)")
        }
      }
    }
  }

  @Test("no two apps of a planner have the same number, although slots are used again")
  func numbers() {
    var ledgers = Ledgers(PolicyProfiles.standard)
    let now = Timestamp(microseconds: 0)
    let first = ledgers.apps.slot("a", limit: -1)
    ledgers.apps.join(first)
    let number = ledgers.apps[first].number
    #expect(ledgers.apps.leave(first, now: now) == nil)
    let second = ledgers.apps.slot("b", limit: -1)
    #expect(second == first && ledgers.apps[second].number != number)
  }

  @Test("a refund of yesterday's push gives back no token of today")
  func yesterday() {
    var ledgers = Ledgers(PolicyProfiles.standard)
    let (monday, tuesday) = (Timestamp(microseconds: 0), Timestamp(microseconds: 0) + .hours(30))
    let app = ledgers.apps.slot("a", limit: 5)
    ledgers.apps.charge(app, at: 3, now: monday)
    ledgers.apps.charge(app, at: 7, now: tuesday)
    ledgers.apps.refund(app, chargedAt: 3, now: tuesday)
    #expect(ledgers.apps.tokensLeft(app, now: tuesday) == 4)
    ledgers.apps.refund(app, chargedAt: 7, now: tuesday)
    #expect(ledgers.apps.tokensLeft(app, now: tuesday) == 5)
  }

  @Test("the limits of a new policy hold at once, and spent tokens stay spent")
  func limits() {
    var ledgers = Ledgers(PolicyProfiles.standard)
    let now = Timestamp(microseconds: 0)
    let app = ledgers.apps.slot("a", limit: -1)
    for offset in 0..<3 as Range<Int64> { ledgers.apps.charge(app, at: offset, now: now) }
    #expect(ledgers.apps.tokensLeft(app, now: now) == -1)
    ledgers.apps.set(limit: 5, of: app)
    #expect(ledgers.apps.tokensLeft(app, now: now) == 2)
    ledgers.apps.set(limit: 2, of: app)
    #expect(ledgers.apps.tokensLeft(app, now: now) == 0)
    #expect(ledgers.apps.takeTouched() == [app] && ledgers.apps.takeTouched().isEmpty)
  }
}
