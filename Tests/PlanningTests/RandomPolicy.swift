import Domain
import Policies

/// Random policies that `rouse policy check` accepts, about the kinds of `RandomLife`. The odd ones are frequent: rolling windows,
/// reserves of all tokens, quiet hours that leave a minute of the day, budgets of one token.
enum RandomPolicy {
  /// Returns the next policy that is valid.
  /// - Parameters:
  ///   - random: The source of randomness.
  ///   - refused: Is increased by the number of policies that were drawn before and are not valid.
  static func next(_ random: inout SeededRandom, refused: inout Int) -> PolicyDocument {
    while true {
      do { return try PolicyDocument(yaml: text(&random), file: "policy.yaml") } catch { refused += 1 }
    }
  }

  private static func text(_ random: inout SeededRandom) -> String {
    var lines = ["version: v\(random.below(1_000_000))"]
    if random.chance(2, in: 3) { lines.append("quietHours: \(quietHours(&random))") }
    if random.chance(1, in: 3) {
      lines.append("apps: { com.example.flights: { perDay: \(pick([1, 2, 12, 1000], &random)) } }")
    }
    lines.append("limits:")
    for name in ["devicePushes", "backgroundPushes", "controlPushes", "activityPushes", "activityStarts"] {
      lines.append("  \(name): \(rate(&random))")
    }
    lines.append("kinds:")
    for name in ["FlightStatus", "Airport"] { lines.append("  \(name): { \(widget(&random)) }") }
    if random.chance(1, in: 2) { lines.append("  FlightActivity: { \(activity(&random)) }") }
    return lines.joined(separator: "\n")
  }

  private static func quietHours(_ random: inout SeededRandom) -> String {
    let from = random.below(1440)
    let length = pick([1, 30, 480, 720, 1380, 1435, 1439], &random)
    let except = pick(["", ", exceptRelevance: 0", ", exceptRelevance: 0.5", ", exceptRelevance: 0.9"], &random)
    return "{ from: \"\(clock(from))\", to: \"\(clock(from + length))\"\(except) }"
  }

  private static func rate(_ random: inout SeededRandom) -> String {
    if random.chance(1, in: 3) { return "{ limit: unlimited }" }
    let window = pick(["1s", "1m", "1h", "24h", "168h"], &random)
    return "{ limit: \(pick([1, 2, 5, 1000], &random)), window: \(window), burst: \(pick([1, 3, 1000], &random)) }"
  }

  private static func widget(_ random: inout SeededRandom) -> String {
    var keys = ["surface: \(pick(["widget", "widget", "background"], &random))", "budget: { \(budget(&random)) }"]
    if random.chance(1, in: 10) { keys.append("enabled: false") }
    if random.chance(1, in: 2) { keys.append("halfLife: \(pick(["1s", "20m", "168h"], &random))") }
    if random.chance(1, in: 3) { keys.append("imminentReload: \(pick(["0s", "5m", "24h"], &random))") }
    if random.chance(1, in: 3) {
      keys.append("views: [\((0..<24).map { _ in "\(pick([0, 0, 1], &random))" }.joined(separator: ", "))]")
    }
    let displays = random.chance(2, in: 3)
    if displays { keys.append("displays: [{ field: data.delay, round: 5 }, { field: data.status, weight: 0.3 }]") }
    let age = random.chance(1, in: 3) ? ", maxAge: \(pick(["1s", "30m", "720h"], &random))" : ""
    let stated = ", relevance: { base: \(pick([0.1, 0.5, 0.9, 1], &random)) }"
    let other = displays && random.chance(1, in: 2) ? "" : ", relevance: { base: \(pick([0.1, 0.5, 0.9, 1], &random)) }"
    keys.append("rules: [{ event: flight.cancelled\(stated)\(age) }, { event: \"flight.*\"\(other)\(age) }]")
    return keys.joined(separator: ", ")
  }

  private static func budget(_ random: inout SeededRandom) -> String {
    var keys = ["perDay: \(pick([1, 2, 3, 6, 48, 200], &random))"]
    keys.append("minInterval: \(pick(["0s", "1s", "5m", "3h", "24h"], &random))")
    keys.append(random.chance(1, in: 2) ? "window: rolling" : "dayStart: \"\(clock(random.below(1440)))\"")
    if random.chance(2, in: 3) {
      let (share, above) = (pick([0, 0.01, 0.2, 0.5, 0.97, 0.999, 1], &random), pick([0, 0.5, 0.9, 1], &random))
      keys.append("reserve: { share: \(share), aboveRelevance: \(above) }")
    }
    return keys.joined(separator: ", ")
  }

  private static func activity(_ random: inout SeededRandom) -> String {
    """
    surface: liveActivity, activity: { attributesType: F, contentState: { status: "{data.status}" }, \
    alert: { title: Flight, body: "{data.status}" }, quietEnd: \(pick(["1m", "2h", "8h"], &random)) }, \
    rules: [{ event: flight.boarding, action: start, relevance: { base: 1 } }, \
    { event: flight.gate.changed, action: end, relevance: { base: 1 } }, { event: "flight.*", relevance: { base: 0.5 } }]
    """
  }

  private static func clock(_ minute: Int) -> String {
    let (hour, minute) = (minute / 60 % 24, minute % 60)
    return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
  }

  private static func pick<Value>(_ values: [Value], _ random: inout SeededRandom) -> Value {
    values[random.below(values.count)]
  }
}
