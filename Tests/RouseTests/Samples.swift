/// A policy under which every change is worth its token.
let tinyPolicy = """
  version: tiny.1
  profile: apple-2026
  kinds:
    FlightStatus:
      surface: widget
      budget: { perDay: 40, minInterval: 5m }
      halfLife: 20m
      displays: [ { field: data.delayMinutes, round: 5 } ]
      rules:
        - event: flight.delay.changed
          relevance: { base: 0.5 }

  """

/// An iPhone whose widget `w1` is about a flight.
func phone(_ device: String, _ flight: String = "flight/UA1", zone: String = "America/New_York") -> String {
  #"{"device":"\#(device)","app":"com.example.glance","environment":"production","platform":"iOS","osVersion":"26.1","#
    + #""timeZone":"\#(zone)","tokens":{"widgets":"\#(token(of: device))"},"widgets":[{"id":"w1","kind":"FlightStatus","#
    + #""family":"systemSmall","interests":["\#(flight)"]}],"updatedAt":"2013-06-30T00:00:00Z"}"# + "\n"
}

/// The token of a device: `aa2` for `d1`, and another one for each other device.
private func token(of device: String) -> String {
  device == "d1" ? "aa2" : "aa2" + device.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
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

/// Matches on the lock screen, from kick-off to the final whistle.
let matchPolicy = """
  version: match.1
  kinds:
    Match:
      surface: liveActivity
      activity:
        contentState: { note: "{data.note}{data.note}{data.note}{data.note}{data.note}{data.note}" }
        attributesType: MatchAttributes
        alert: { title: "{subject}", body: Match }
      halfLife: 5m
      rules:
        - { event: match.kickoff, action: start, relevance: { base: 1 } }
        - { event: match.ended, action: end, relevance: { base: 1 } }
        - { event: match.*, relevance: { base: 0.5 } }

  """

/// A phone with a running activity about `match/1`, and a token that can start others about `match/2` and `match/3`.
func lockScreen(_ device: String) -> String {
  #"{"device":"\#(device)","app":"com.example.match","environment":"production","platform":"iOS","osVersion":"26.1","#
    + #""timeZone":"Europe/Rome","updatedAt":"2013-07-01T00:00:00Z","activities":[{"id":"a1","kind":"Match","#
    + #""token":"cc\#(device.dropFirst())","interests":["match/1"],"startedAt":"2013-07-01T14:00:00Z"}],"#
    + #""pushToStart":[{"kind":"Match","token":"dd\#(device.dropFirst())","interests":["match/2","match/3"]}]}"# + "\n"
}

/// An event of a match; six times this many bytes are in its push.
func matchEvent(_ id: String, _ type: String, at time: String, bytes: Int = 3, _ match: String = "match/1") -> String {
  #"{"specversion":"1.0","id":"\#(id)","source":"/test","type":"\#(type)","subject":"\#(match)","#
    + #""time":"2013-07-01T\#(time)Z","data":{"note":"\#(String(repeating: "x", count: bytes))"}}"# + "\n"
}
