import Auditing
import Domain
import Policies

/// The part of the overview about freshness objectives: the changes that were shown in time, and how fast the error budget is spent.
struct ObjectivesSection {
  /// The windows, in hours.
  private static let windows = [1, 6, 24, 72]
  /// The hours of the drawing.
  private static let drawnHours = 24
  /// The rates from which on a window asks for a look, by its hours, as the alerts of `deploy/observability` have them: at 14.4, 2 % of the
  /// budget of 30 days go in an hour (B. Beyer et al., "The Site Reliability Workbook", 2018, chapter 5).
  private static let alertRates = [1: 14.4, 6: 6, 72: 1]
  /// The changes of a window that say too little about a rate, as the alerts have it.
  private static let changesMin = 20

  private let kinds: [ObjectiveHours]
  private let policy: Policy?
  private let time: PageTime

  /// Reads what the section shows.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - policy: The policy in force, which has the objectives; nil if it is not known.
  ///   - time: Writes the times.
  /// - Throws: `AuditError` when the store cannot be read.
  init(_ store: AuditStore, _ policy: Policy?, _ time: PageTime) throws(AuditError) {
    kinds = try store.objectiveHours(Self.windows.max() ?? Self.drawnHours)
    self.policy = policy
    self.time = time
  }

  /// The kinds whose error budget is spent so fast that it needs a look, each in a sentence.
  var alarms: [[PageCell]] {
    kinds.compactMap { kind in
      guard let share = policy?.kind(named: kind.kind)?.objective?.share else { return nil }
      let fast = Self.windows.filter { Self.isFast(kind.last($0), share) }
      guard !fast.isEmpty else { return nil }
      let words = fast.map { hours in
        "\(Figure.decimal(kind.last(hours).burn(share: share) ?? 0)) over the last \(hours == 1 ? "hour" : "\(hours) h")"
      }
      return [
        PageCell("\(kind.kind)", link: Self.missed(kind, fast[fast.count - 1]), tone: .bad),
        PageCell(
          " spends its error budget too fast: at a rate of \(words.joined(separator: ", ")). At 1 it just lasts."),
      ]
    }
  }

  var section: PageSection {
    var section = PageSection(heading: "Freshness objectives")
    guard !kinds.isEmpty else {
      return PageSection(
        heading: section.heading,
        paragraphs: [
          [
            PageCell(
              "No change of the last \(Self.windows.max() ?? 0) hours counts for an objective. A policy gives a kind one with ",
              tone: .dim),
            PageCell("objective", tone: .code), PageCell(".", tone: .dim),
          ]
        ])
    }
    section.paragraphs = [
      policy == nil
        ? [
          "The objectives themselves are not known yet, because the brokers have not told the policy in force. Without them no rate can be shown: ",
          PageCell("load the page anew", link: ""), ".",
        ]
        : [
          "A kind may miss a share of its changes: that is its error budget. The rate says how fast it is spent: at 1 it just lasts, at 2 it lasts half as long. A fast rate over a short window needs a look now, a slow one over a long window does not."
        ]
    ]
    var drawn: [(hours: ObjectiveHours, share: Double)] = []
    for kind in kinds {
      guard let share = policy?.kind(named: kind.kind)?.objective?.share else { continue }
      var day = kind
      day.hours = kind.hours.suffix(Self.drawnHours)
      drawn.append((day, share))
    }
    if let drawing = BurnChart.drawing(drawn, time) {
      section.figures = [
        .init(
          drawing: drawing,
          caption:
            "Error budget of the last \(Self.drawnHours) hours spent up to each hour, UTC; on the thin line it just lasts, above the dashed one it is overspent."
        )
      ]
    }
    section.tables = [table]
    if policy != nil {
      section.paragraphs.append([
        "How many of the late changes could any reloads have shown? ",
        PageCell("Compare a hundredth of the devices", link: "/v1/objectives?sample=0.01&format=csv"),
        " with the best schedules in hindsight, as CSV. It reads every decision, which takes a while.",
      ])
    }
    return section
  }

  private var table: PageTable {
    var table = PageTable(
      name: "objectives",
      caption:
        "Rate at which the error budget is spent, and the changes shown in time; in whole hours, up to that of the newest decision",
      columns: ["Kind", "Objective", "Window", "#Rate", "#In time", "#Late", "#Changes", "Attention"], empty: "None.")
    table.rows = kinds.flatMap { kind in
      let objective = policy?.kind(named: kind.kind)?.objective
      let name = [
        PageCell(kind.kind.text, link: PageLink.to("/decisions", ["kind": kind.kind.text])),
        PageCell(
          objective.map { "\(Self.percent($0.share)) within \(Figure.span($0.freshWithin))" }
            ?? (policy == nil ? "not known yet" : "none in the policy"),
          tone: objective == nil ? .dim : nil),
      ]
      return Self.windows.map { hours in
        name + [PageCell(hours == 1 ? "last hour" : "last \(hours) h")] + Self.cells(kind, hours, objective?.share)
      }
    }
    return table
  }

  /// Returns the cells of a window, whose number of late changes leads to these.
  private static func cells(_ kind: ObjectiveHours, _ hours: Int, _ share: Double?) -> [PageCell] {
    let counts = kind.last(hours)
    let none = PageCell("–", isNumber: true)
    guard counts.changes > 0 else { return [none, none, .number(0), .number(0), ""] }
    var (rate, attention) = (none, PageCell(""))
    if let share, let burn = counts.burn(share: share) {
      rate = .decimal(burn)
      rate.tone = burn > 1 ? .bad : .good
      if isFast(counts, share) { attention = PageCell("needs a look", tone: .bad) }
    }
    let part = Double(counts.inTime) / Double(counts.changes)
    var inTime = PageCell(percent(part), isNumber: true)
    inTime.figure = .number(part)
    let missed = PageCell.number(
      counts.changes - counts.inTime,
      link: counts.changes == counts.inTime ? nil : Self.missed(kind, hours))
    return [rate, inTime, missed, .number(counts.changes), attention]
  }

  /// Whether the error budget is spent as fast as the alert of a window says.
  private static func isFast(_ counts: AuditSummary.Attainment.WindowCounts, _ share: Double) -> Bool {
    guard counts.changes > changesMin, let burn = counts.burn(share: share),
      let alert = counts.minutes.flatMap({ alertRates[$0 / 60] })
    else { return false }
    // A kind that may miss much cannot reach a high rate, so 90 % of missed changes count as reaching it.
    return burn > min(alert, 0.9 / (1 - share))
  }

  /// Returns the address of the late changes of a window.
  private static func missed(_ kind: ObjectiveHours, _ hours: Int) -> String {
    PageLink.to(
      "/decisions",
      [
        "kind": kind.kind.text, "objective": ObjectiveResult.missed.rawValue,
        "from": kind.hours.suffix(hours).first.map { Figure.time($0.start) },
        "to": kind.hours.last.map { Figure.time($0.start + .hours(1)) },
      ])
  }

  /// Returns a share in percent with decimals, because 99.9 % is not 100 %.
  private static func percent(_ share: Double) -> String { "\(Figure.decimal((share * 10_000).rounded() / 100)) %" }
}
