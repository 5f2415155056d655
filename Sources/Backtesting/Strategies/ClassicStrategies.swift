import JSON

/// The three ways to spend a day's tokens that guides for app developers tell of, as budget over the hours of a day. They
/// know a clock and nothing else; what a policy does instead is `BacktestReport`.
public struct ClassicStrategies: Equatable, Sendable {
  public struct Row: Equatable, Sendable {
    public var name: String
    /// `4 an hour while awake`
    public var rule: String
    /// Reloads asked for in a day.
    public var wanted: Int
    public var granted: Int
    /// Minutes after midnight at which the last token went while more was wanted; nil: it lasted.
    public var exhaustedMinute: Int?
    /// Tokens left at each full hour 0…24.
    public var left: [Int]
  }

  public let tokens: Int
  public let wakingHours: Range<Int>
  public let rows: [Row]

  /// Waking hours of the table in the guides: twelve.
  public static let wakingHoursDefault = 7..<19

  /// - Parameter tokens: of a day, from midnight on.
  public init(tokens: Int, wakingHours: Range<Int> = ClassicStrategies.wakingHoursDefault) {
    self.tokens = tokens
    self.wakingHours = wakingHours
    let awake = wakingHours.count * 60
    func everyMinutes(_ step: Int) -> [Int] {
      stride(from: 0, to: awake, by: step).map { wakingHours.lowerBound * 60 + $0 }
    }
    rows = [
      Self.row("strategic", "4 an hour while awake", asking: everyMinutes(15), tokens),
      Self.row("aggressive", "12 an hour while awake", asking: everyMinutes(5), tokens),
      // 8 of the 5 to 10 times a day that people look something up.
      Self.row("on demand", "5 to 10 a day, when asked for (8 shown)", asking: everyMinutes(awake / 8), tokens),
    ]
  }

  private static func row(_ name: String, _ rule: String, asking minutes: [Int], _ tokens: Int) -> Row {
    let granted = minutes.prefix(tokens)
    return Row(
      name: name, rule: rule, wanted: minutes.count, granted: granted.count,
      exhaustedMinute: minutes.count > granted.count ? granted.last : nil,
      left: (0...24).map { hour in tokens - granted.count { $0 < hour * 60 } })
  }
}

extension ClassicStrategies {
  /// One JSON object.
  public var json: [UInt8] {
    var json = JSONWriter(reserving: 2048)
    json.beginObject()
    json.key("tokensPerDay")
    json.integer(tokens)
    json.key("wakingFromHour")
    json.integer(wakingHours.lowerBound)
    json.key("wakingToHour")
    json.integer(wakingHours.upperBound)
    json.key("strategies")
    json.beginArray()
    for row in rows {
      json.beginObject()
      json.key("strategy")
      json.string(row.name)
      json.key("rule")
      json.string(row.rule)
      json.key("wanted")
      json.integer(row.wanted)
      json.key("granted")
      json.integer(row.granted)
      json.key("exhaustedMinute")
      if let minute = row.exhaustedMinute { json.integer(minute) } else { json.null() }
      json.key("tokensLeftByHour")
      json.beginArray()
      for left in row.left { json.integer(left) }
      json.endArray()
      json.endObject()
    }
    json.endArray()
    json.endObject()
    return json.bytes
  }
}
