import JSON

/// Three ways to spend a day's tokens that guides for app developers describe, as tokens left over the hours of a day.
/// They follow only the clock. `BacktestReport` shows what a policy does instead.
public struct ClassicStrategies: Equatable, Sendable {
  /// One strategy.
  public struct Row: Equatable, Sendable {
    /// The name of the strategy.
    public var name: String
    /// The rule in words: `4 an hour while awake`.
    public var rule: String
    /// The number of reloads that the strategy asks for in a day.
    public var wanted: Int
    /// The number of reloads that the tokens allow.
    public var granted: Int
    /// The minutes after midnight at which the last token was spent while more was wanted; nil if the tokens lasted.
    public var exhaustedMinute: Int?
    /// The tokens left at each full hour from 0 to 24: 25 values.
    public var left: [Int]
  }

  /// The number of tokens for a day.
  public let tokens: Int
  /// The hours of the day in which people are awake.
  public let wakingHours: Range<Int>
  /// The strategies.
  public let rows: [Row]

  /// The twelve waking hours that the guides assume, 7:00 to 19:00.
  public static let wakingHoursDefault = 7..<19

  /// Computes for each strategy which reloads a day's tokens allow, and how many tokens are left at each hour.
  /// - Parameters:
  ///   - tokens: The tokens of a day that begins at midnight.
  ///   - wakingHours: The hours in which people are awake, within 0..<24.
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
      // People look something up 5 to 10 times a day; 8 is shown.
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
  /// The strategies and their tokens by hour as one JSON object.
  public var json: [UInt8] {
    var json = JSONWriter(reserving: 2048)
    json.beginObject()
    json.member("tokensPerDay", tokens)
    json.member("wakingFromHour", wakingHours.lowerBound)
    json.member("wakingToHour", wakingHours.upperBound)
    json.objects("strategies", rows) { row, json in
      json.member("strategy", row.name)
      json.member("rule", row.rule)
      json.member("wanted", row.wanted)
      json.member("granted", row.granted)
      json.key("exhaustedMinute")
      if let minute = row.exhaustedMinute { json.integer(minute) } else { json.null() }
      json.array("tokensLeftByHour", row.left) { left, json in json.integer(left) }
    }
    json.endObject()
    return json.bytes
  }
}
