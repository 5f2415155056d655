import Domain
import Policies
import Testing

@testable import Planning

private typealias H = PlannerHarness

@Suite("The view habits of a device")
struct ViewHabitsTests {
  /// The UTC midnight before `noon`, in µs.
  private static let midnight = H.noon - 12 * H.hour

  @Test("an hour counts once a day, and an earlier hour than the last does not count")
  func once() {
    var habits = ViewHabits()
    let counted = [100, 100, 101, 100, 124, 124, 148].map { habits.note(localHour: $0) }
    #expect(counted == [true, false, true, false, true, false, true])
    #expect(habits.count(100 % 24) == 3)
    #expect(habits.count(101 % 24) == 1)
    #expect(habits.days == 3)
    #expect(habits.best == 3)
  }

  @Test("old habits fade, so that a new hour outweighs years of another hour within a month")
  func fading() {
    var habits = ViewHabits()
    for day in 0..<1000 { _ = habits.note(localHour: Int64(day) * 24 + 8) }
    #expect(habits.count(8) < ViewHabits.countMax)
    for day in 1000..<1030 { _ = habits.note(localHour: Int64(day) * 24 + 20) }
    #expect(habits.share(20) == 1)
    #expect(habits.share(8) < 1)
  }

  @Test("the days counted never exceed their bound, however many hours have views")
  func bounded() {
    var habits = ViewHabits()
    for day in 0..<2000 { _ = habits.note(localHour: Int64(day) * 24 + Int64(day % 24)) }
    #expect(habits.days >= ViewHabits.countMax / 2)
    #expect(habits.weight(priorDays: 7) < 1)
    #expect((0..<24).allSatisfy { habits.count($0) < ViewHabits.countMax })
  }

  @Test("learnt habits are written and read back", arguments: 0..<20)
  func roundTrip(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    var habits = ViewHabits()
    var hour: Int64 = 495_000
    for _ in 0..<Int.random(in: 1...3000, using: &random) {
      hour += Int64.random(in: 0...9, using: &random)
      _ = habits.note(localHour: hour)
    }
    var writer = BinaryWriter()
    habits.write(to: &writer)
    var reader = BinaryReader(writer.bytes)
    #expect(try ViewHabits(from: &reader) == habits, "seed \(seed)")
    #expect(writer.bytes.count <= 32)
  }

  @Test("a device with the kind's hours has the looks and the shares of the kind")
  func sameCurve() {
    var kind = KindPricing()
    var views = [Double](repeating: 0, count: 24)
    for hour in 0..<24 { views[hour] = Double(hour % 4 + 1) / 4 }
    kind.configure(Policy.flights { $0.views = views }.kinds[0])
    var habits = ViewHabits()
    for day in 0..<4 {
      for hour in 0..<24 where hour % 4 >= 3 - day { _ = habits.note(localHour: Int64(day) * 24 + Int64(hour)) }
    }
    #expect((0..<24).allSatisfy { habits.share($0) == views[$0] })
    for minute in stride(from: Int64(0), to: 1440, by: 7) {
      let time = TimeOfDay(microseconds: minute * H.minute)
      #expect(abs(kind.ahead(time, habits) - kind.ahead(time, nil)) < 1e-9)
    }
    let own = kind.own(habits)
    #expect((0..<24).allSatisfy { abs(own[$0] - 1) < 1e-9 })
  }

  @Test("a device with views only in the evening has all of the day's looks then")
  func ownHours() {
    var kind = KindPricing()
    kind.configure(Policy.flights { $0.viewsWeight = 0 }.kinds[0])
    var habits = ViewHabits()
    for day in 0..<10 { for hour in [19, 20] { _ = habits.note(localHour: Int64(day * 24 + hour)) } }
    func ahead(_ hour: Int64) -> Double { kind.ahead(TimeOfDay(microseconds: hour * H.hour), habits) }
    #expect(abs(ahead(19) - 25.0 / 3) < 1e-9 && ahead(12) == 0 && ahead(3) == 0)
    let own = kind.own(habits)
    #expect(own[8] == 0 && own[15] > 1)
  }

  /// Returns the mean distance of the commands from an hour of the day, in hours, around the clock.
  private static func distance(_ commands: [Command], from hour: Double) -> Double {
    let sum = commands.reduce(0.0) { sum, command in
      let at = Double((command.at.microseconds - midnight) % (24 * H.hour)) / Double(H.hour)
      return sum + min(abs(at - hour), 24 - abs(at - hour))
    }
    return sum / Double(commands.count)
  }

  @Test(
    "with the same events and budget, the pushes to each device are closer to the hours of its views",
    arguments: 0..<12)
  func evening(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var h = H(
      .flights {
        $0.budget = InstanceBudget(perDay: 12, minInterval: .minutes(5))
        $0.views = KindPolicy.defaultViews
      }, demand: .standard)
    let looks: [(device: Identifier, hour: Double)] = [("evening", 20.5), ("morning", 8.5)]
    for look in looks { h.register(.phone(look.device), at: Self.midnight) }
    h.register(.phone("silent"), at: Self.midnight)
    var records: [(at: Int64, device: Identifier?)] = []
    for day in Int64(0)..<9 {
      let start = Self.midnight + day * 24 * H.hour
      for look in looks {
        for hour in [-1, 0, 1] as [Int64] {
          let at = start + (Int64(look.hour) + hour) * H.hour + Int64.random(in: 0..<H.hour, using: &random)
          records.append((at, look.device))
        }
      }
      for _ in 0..<120 { records.append((start + Int64.random(in: 0..<24 * H.hour, using: &random), nil)) }
    }
    records.sort { $0.at < $1.at }
    for (place, record) in records.enumerated() {
      while let due = h.planner.nextTimer?.microseconds, due < record.at { h.tick(at: due) }
      if let device = record.device {
        h.signal(.widgetViewed(instance: nil), device: device, at: record.at)
      } else {
        h.event(.delay(Double.random(in: 0...200, using: &random), id: "e\(place)", at: record.at))
      }
    }
    let learnt = h.commands.filter { $0.at.microseconds >= Self.midnight + 5 * 24 * H.hour }
    var own: [Identifier: [Command]] = [:]
    for command in learnt { own[command.device, default: []].append(command) }
    for (device, hour) in looks {
      let mine = Self.distance(own[device] ?? [], from: hour)
      let other = Self.distance(own[device == "evening" ? "morning" : "evening"] ?? [], from: hour)
      let silent = Self.distance(own["silent"] ?? [], from: hour)
      #expect(mine < other && mine < silent, "seed \(seed), \(device): \(mine), the other \(other), silent \(silent)")
      #expect((own[device] ?? []).count > 20, "seed \(seed)")
    }
  }

  @Test("a device without signals takes no memory for habits, and one in developer mode has none")
  func free() {
    var h = H(.flights())
    h.register(.phone("d1"))
    h.register(.phone("d2", developerMode: true))
    h.signal(.widgetViewed(instance: "w1"), device: "d2", at: H.noon)
    h.event(.delay(10, id: "e1", at: H.noon))
    #expect(h.planner.viewHabits.isEmpty)
    h.signal(.widgetViewed(instance: "w1"), device: "d1", at: H.noon + H.hour)
    #expect(h.planner.viewHabits.count == 1)
    #expect(MemoryLayout<ViewHabits>.stride == 32)
  }

  // MARK: State

  private static func records(_ planner: inout Planner) -> [(key: [UInt8], value: [UInt8])] {
    var records: [(key: [UInt8], value: [UInt8])] = []
    planner.takeChanges { key, value in
      if let value { records.append((Array(key), Array(value))) }
    }
    return records
  }

  private static func restored(
    _ records: [(key: [UInt8], value: [UInt8])], version: UInt8? = nil
  ) throws -> Planner {
    var restore = PlannerRestore(partition: 0, partitionCount: 1)
    for record in records {
      try restore.add(key: record.key, value: [version ?? record.value[0]] + record.value.dropFirst())
    }
    return try restore.finish(initialPolicy: .flights())
  }

  @Test("learnt habits survive a restart")
  func restart() throws {
    var h = H()
    h.register(.phone())
    h.signal(.widgetViewed(instance: nil), at: H.noon + 1)
    let again = try Self.restored(Self.records(&h.planner))
    #expect(
      again.viewHabits == h.planner.viewHabits && again.viewHabits.count == 1)
  }

  @Test("state in another format is refused", arguments: [0, stateFormatVersion + 1, 255] as [UInt8])
  func refused(version: UInt8) throws {
    var h = H()
    h.register(.phone())
    let records = Self.records(&h.planner)
    #expect(throws: BinaryError.self) { _ = try Self.restored(records, version: version) }
  }
}
