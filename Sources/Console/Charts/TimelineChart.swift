import Auditing
import Domain

/// Draws the events, the decisions, the pushes and the looks of a device on one axis of time: a lane for the events, one for each instance, one
/// for the pushes, and one for looks and fetches if any are known. An event stands where the first of the decisions about it was made.
enum TimelineChart {
  private static let (width, left, right, laneHeight) = (900.0, 170.0, 885.0, 26.0)
  /// The most lanes.
  /// - Beyond: the decisions about further instances are in the table alone.
  private static let lanesMax = 12
  /// The most characters of the name of a lane.
  private static let nameMax = 22

  /// Returns the drawing; nil if there is nothing to draw.
  ///
  /// - Parameters:
  ///   - entries: The decisions and pushes, oldest first.
  ///   - looks: The looks and fetches.
  ///   - time: Writes the times.
  static func drawing(_ entries: [AuditEntry], _ looks: [Signal], _ time: PageTime) -> Markup? {
    let instants = [entries.first?.at, entries.last?.at].compactMap(\.self) + looks.map(\.time)
    guard !entries.isEmpty, let first = instants.min(), let last = instants.max() else { return nil }
    var lanes: [Identifier] = []
    for case .decision(let decision) in entries where !lanes.contains(decision.instance) {
      lanes.append(decision.instance)
    }
    lanes = Array(lanes.sorted().prefix(lanesMax))
    let height = Double(lanes.count + (looks.isEmpty ? 2 : 3)) * laneHeight + 28
    let events = events(entries)
    let pushes = entries.count { if case .command = $0 { true } else { false } }
    var svg = SVGWriter(
      id: "timeline", width: width, height: height,
      title: looks.isEmpty ? "Events, decisions and pushes over time" : "Events, decisions, pushes and looks over time",
      details:
        "\(events.count) events, \(entries.count - pushes) decisions about \(lanes.count) instances, \(pushes) pushes and \(looks.count) looks or fetches from \(time.text(first)) to \(time.text(last)) \(time.zone). The table below has each of them."
    )
    let axis = TimeAxis(first, last, left: left, right: right)
    axis.draw(&svg, top: 4, bottom: height - 22, time)
    for (place, name) in (["events"] + lanes.map(\.text) + (looks.isEmpty ? ["pushes"] : ["pushes", "looks, fetches"]))
      .enumerated()
    {
      let y = y(place)
      svg.line(x1: left - 6, y1: y, x2: right + 6, y2: y, "axis")
      svg.text(
        name.count > nameMax ? "\(name.prefix(nameMax - 1))…" : name, x: left - 14, y: y + 4, anchor: .end, "strong")
    }
    for event in events {
      let x = axis.x(event)
      svg.path([(x, y(0) + 5), (x - 4, y(0) - 4), (x + 4, y(0) - 4)], isClosed: true, "event")
    }
    // Decisions to send are drawn last, over those that went along with them at the same instant.
    for isSent in [false, true] {
      for entry in entries where isSent == Self.isSent(entry) { draw(entry, lanes, axis, &svg) }
    }
    for look in looks {
      let (x, y) = (axis.x(look.time), y(lanes.count + 2))
      if case .widgetFetched = look.kind {
        svg.path([(x - 4, y - 4), (x + 4, y - 4), (x + 4, y + 4), (x - 4, y + 4)], isClosed: true, "hollow look")
      } else {
        svg.circle(x: x, y: y, radius: 4, "hollow look")
      }
    }
    return svg.markup
  }

  /// Returns the height of the middle of a lane.
  private static func y(_ lane: Int) -> Double { Double(lane) * laneHeight + laneHeight / 2 + 2 }

  /// Returns the time of the first decision about each event.
  private static func events(_ entries: [AuditEntry]) -> [Timestamp] {
    var seen: Set<Identifier> = []
    return entries.compactMap { entry in
      guard case .decision(let decision) = entry, seen.insert(decision.event).inserted else { return nil }
      return decision.at
    }
  }

  private static func isSent(_ entry: AuditEntry) -> Bool {
    if case .decision(let decision) = entry { decision.verdict == .emit } else { false }
  }

  /// Each verdict has a form of its own, so that no one needs the colours. The tips of `coalesce` stand out behind an `emit`.
  private static func draw(_ entry: AuditEntry, _ lanes: [Identifier], _ axis: TimeAxis, _ svg: inout SVGWriter) {
    let x = axis.x(entry.at)
    guard case .decision(let decision) = entry else {
      let y = y(lanes.count + 1)
      return svg.rectangle(x: x - 1.5, y: y - 9, width: 3, height: 18, "emit")
    }
    guard let lane = lanes.firstIndex(of: decision.instance) else { return }
    let y = y(lane + 1)
    switch decision.verdict {
    case .emit: svg.circle(x: x, y: y, radius: 4.5, "emit")
    case .defer: svg.circle(x: x, y: y, radius: 4, "hollow defer")
    case .coalesce: svg.path([(x, y - 7), (x + 7, y), (x, y + 7), (x - 7, y)], isClosed: true, "coalesce")
    case .suppress: svg.line(x1: x, y1: y - 5, x2: x, y2: y + 5, "mark suppress")
    }
  }
}
