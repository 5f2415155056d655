import JSON

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
