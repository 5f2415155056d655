import Domain
import Policies
import Replay

/// Draws one day of one instance: the truth, the content that the screen showed, and the looks.
struct ExampleDrawing {
  private let stream: InstanceStream
  private let days: [ScreenDay]
  private let number: Int
  private let fields: [Identifier]
  private let free: [Int64]

  /// The number of parts of the day in which looks are counted.
  private static let looksParts = 48

  /// Prepares a drawing.
  /// - Parameters:
  ///   - stream: The instance.
  ///   - days: All days on which the truth of its screen changed.
  ///   - number: The place in `days` of the day to draw.
  ///   - fields: The paths of the kind's displayed fields.
  ///   - free: The reloads that cost nothing, µs, rising.
  init(_ stream: InstanceStream, days: [ScreenDay], number: Int, fields: [Identifier], free: [Int64]) {
    self.stream = stream
    self.days = days
    self.number = number
    self.fields = fields
    self.free = free
  }

  private var day: ScreenDay { days[number] }

  /// Returns the drawing of a plan.
  /// - Parameters:
  ///   - plan: The name of the policy.
  ///   - captured: The wrong looks that the policy set right, as a share of those that the day's tokens could have set
  ///     right.
  ///   - reloads: All reloads of the policy, µs, rising.
  func day(plan: String, captured: Double, reloads: [Int64]) -> ExampleDay {
    let field = busiestNumber
    let under = steps(reloads: reloads, field: field)
    let day = day.day
    // Without any paid reload, the day begins with a right screen, as for the optimum.
    let without = steps(reloads: [day.start - 1], field: nil)
    let all = self.day.looks.before(day.end)
    return ExampleDay(
      device: stream.device, instance: stream.instance, plan: plan, date: self.day.date, captured: captured,
      wrong: under.wrong, wrongWithout: without.wrong,
      number: field.map {
        ExampleDay.Number(
          field: fields[stream.screen.fields[$0]], truth: under.truth, shown: under.shown)
      },
      reloads: reloads.filter { $0 >= day.start && $0 < day.end }.map(place),
      looks: (0..<Self.looksParts).map { part in
        let looks = self.day.looks.before(instant(part + 1)) - self.day.looks.before(instant(part))
        return all > 0 ? looks / all : 0
      })
  }

  private typealias Curves = (wrong: [ExampleDay.Step], truth: [ExampleDay.Step], shown: [ExampleDay.Step])

  /// Returns the steps of the day: the wrongness, and the truth and the shown value of a field.
  private func steps(reloads: [Int64], field: Int?) -> Curves {
    var walk = ScreenWalk(stream.screen, free: free, reloads: reloads)
    for day in days[..<number] { _ = walk.wrongLooks(on: day) }
    var curves: Curves = ([], [], [])
    _ = walk.wrongLooks(on: day) { instant, screen in
      let at = place(instant)
      Self.add(screen.distance, at, to: &curves.wrong)
      guard let field else { return }
      if let number = screen.truth[field].number { Self.add(number, at, to: &curves.truth) }
      if let number = screen.shown(field).number { Self.add(number, at, to: &curves.shown) }
    }
    return curves
  }

  /// Adds a step, unless the value is the same. Of several at one instant, the last one counts.
  private static func add(_ value: Double, _ at: Double, to steps: inout [ExampleDay.Step]) {
    if let last = steps.last, last.at == at { steps.removeLast() }
    if steps.last?.value != value { steps.append(ExampleDay.Step(at: at, value: value)) }
  }

  /// The field with a number that changed most often on the day; nil if none did.
  private var busiestNumber: Int? {
    var counts: [Int: Int] = [:]
    for change in stream.screen.changes[day.changes] {
      if case .value(let field, let value) = change.content, value.number != nil { counts[field, default: 0] += 1 }
    }
    return counts.max { ($0.value, -$0.key) < ($1.value, -$1.key) }?.key
  }

  /// Returns the position of an instant in the day, 0…1.
  private func place(_ instant: Int64) -> Double {
    Double(instant - day.day.start) / Double(day.day.end - day.day.start)
  }

  /// Returns the instant at which a part of the day begins, µs.
  private func instant(_ part: Int) -> Int64 {
    day.day.start + (day.day.end - day.day.start) * Int64(part) / Int64(Self.looksParts)
  }
}
