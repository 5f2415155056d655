/// A policy under which every change is worth its token.
let tinyPolicy = """
  version: tiny.1
  profile: apple-2026
  kinds:
    FlightStatus:
      surface: widget
      budget: { perDay: 40, minInterval: 5m }
      halfLife: 20m
      price: { base: 0.0001, floor: 0 }
      displays: [ { field: data.delayMinutes, round: 5 } ]
      rules:
        - on: flight.delay.changed
          relevance: { base: 0.5 }

  """

/// An iPhone whose widget `w1` is about a flight.
func phone(_ device: String, _ flight: String = "flight/UA1", zone: String = "America/New_York") -> String {
  #"{"device":"\#(device)","app":"com.example.glance","environment":"production","platform":"iOS","osVersion":"26.1","#
    + #""timeZone":"\#(zone)","tokens":{"widgets":"aa\#(device.utf8.count)"},"widgets":[{"id":"w1","kind":"FlightStatus","#
    + #""family":"systemSmall","interests":["\#(flight)"]}],"updatedAt":"2013-06-30T00:00:00Z"}"# + "\n"
}

/// A delay of a flight at a time of 2013-07-01, in UTC.
func delay(_ id: String, _ minutes: Int, at time: String, _ flight: String = "flight/UA1") -> String {
  #"{"specversion":"1.0","id":"\#(id)","source":"/test","type":"flight.delay.changed","subject":"\#(flight)","#
    + #""time":"2013-07-01T\#(time)Z","data":{"delayMinutes":\#(minutes)}}"# + "\n"
}

/// A signal of a device at a time of 2013-07-01, in UTC.
func signal(_ type: String, _ device: String, at time: String) -> String {
  #"{"specversion":"1.0","id":"s-\#(time)","source":"/app","type":"rouse.signal.\#(type)","subject":"\#(device)","#
    + #""time":"2013-07-01T\#(time)Z"}"# + "\n"
}
