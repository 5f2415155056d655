import JSON

extension ClassicStrategies {
  /// The table as one JSON object.
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
