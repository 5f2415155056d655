import Domain

/// A small story that reaches every surface, as the seed of targets with a planner.
enum FuzzTraffic {
  /// One kind of each surface, with short budgets, so that waiting, merging and refusing happen soon.
  static let policy = """
    version: fuzz.1
    limits:
      devicePushes: { limit: 3, window: 1h, burst: 2 }
      activityPushes: { limit: 2, window: 1h, burst: 1 }
    apps: { com.example.flights: { perDay: 20 } }
    kinds:
      FlightStatus:
        surface: widget
        budget: { perDay: 6, minInterval: 5m, reserve: { share: 0.3, aboveRelevance: 0.8 } }
        halfLife: 20m
        displays: [{ field: data.delayMinutes, round: 5 }, { field: data.status }]
        rules:
          - event: flight.delay.changed
            interests: ["{subject}", "airport/{data.origin}"]
            relevance: { base: 0.4, add: [{ magnitudeOf: data.delayMinutes, per: 60, weight: 0.5 }] }
            maxAge: 2h
          - { event: flight.cancelled, relevance: { base: 1 } }
      Gate:
        surface: control
        budget: { perDay: 6, minInterval: 1m }
        rules: [{ event: flight.*, interests: ["gate/{data.gate}"], relevance: { base: 0.7 } }]
      Flight:
        surface: liveActivity
        activity:
          attributesType: FlightAttributes
          attributes: { flight: "{data.flight}" }
          contentState: { status: "{data.status}", delay: { field: data.delayMinutes, default: 0 } }
          alert: { title: "Flight {data.flight}", body: "{data.status}", aboveRelevance: 0.8 }
          staleAfter: 15m
          dismissal: { after: 30m }
        displays: [{ field: data.delayMinutes, round: 5 }]
        rules:
          - { event: flight.boarding, action: start, relevance: { base: 0.9 }, maxAge: 20m }
          - { event: flight.arrived, action: end, relevance: { base: 0.8 } }
          - { event: flight.*, action: update, relevance: { base: 0.5 } }
      Match:
        surface: broadcast
        activity: { attributesType: MatchAttributes, contentState: { score: "{data.status}" } }
        rules: [{ event: flight.*, action: update, relevance: { base: 0.6 } }]
    """

  private static let device = """
    {"device":"d1","app":"com.example.flights","environment":"production","platform":"iOS","osVersion":"26.1",\
    "timeZone":"Europe/Berlin","tokens":{"widgets":"aa11","background":"bb22"},"widgets":[{"id":"w1","kind":\
    "FlightStatus","interests":["flight/UA1","airport/EWR"]},{"id":"w2","kind":"FlightStatus","interests":\
    ["flight/UA2"],"nextReload":"2026-07-01T12:30:00Z"}],"controls":[{"id":"c1","kind":"Gate","token":"cc33",\
    "interests":["gate/7"]}],"activities":[{"id":"a1","kind":"Flight","token":"dd44","interests":["flight/UA1"],\
    "startedAt":"2026-07-01T11:00:00Z"},{"id":"a2","kind":"Match","channel":"Y2hhbm5lbA==","interests":["flight/UA1"],\
    "startedAt":"2026-07-01T11:00:00Z"}],"pushToStart":[{"kind":"Flight","token":"ee55","interests":["flight/UA2"]}],\
    "updatedAt":"2026-07-01T11:59:00Z"}
    """
  private static let oldDevice = """
    {"device":"d2","app":"com.example.flights","environment":"sandbox","platform":"iOS","osVersion":"18.2",\
    "timeZone":"Asia/Kathmandu","tokens":{"background":"ff66"},"widgets":[{"id":"w1","kind":"FlightStatus",\
    "interests":["flight/UA1"]}],"updatedAt":"2026-07-01T11:59:00Z"}
    """

  private static func event(
    _ id: String, _ type: String, _ subject: String, _ time: String, _ data: String
  ) -> String {
    """
    {"specversion":"1.0","id":"\(id)","source":"/s","type":"flight.\(type)","subject":"\(subject)",\
    "time":"2026-07-01T\(time)Z","data":{\(data)}}
    """
  }

  private static func signal(_ type: String, _ data: String, device: String = "d1") -> String {
    """
    {"specversion":"1.0","id":"s1","source":"/app","type":"rouse.signal.\(type)","subject":"\(device)",\
    "time":"2026-07-01T12:10:00Z","data":{\(data)}}
    """
  }

  /// The records of the story: the letter of ``FuzzPipeline`` and the text.
  private static let story: [(letter: Character, text: String)] = [
    ("p", policy), ("r", device), ("r", oldDevice),
    (
      "e",
      event("e1", "delay.changed", "flight/UA1", "12:00:00", #""delayMinutes":30,"origin":"EWR","status":"delayed""#)
    ),
    (
      "e",
      event(
        "e2", "delay.changed", "flight/UA1", "12:01:00", #""delayMinutes":45,"gate":"7","status":"late","flight":"UA1""#
      )
    ),
    ("e", event("e3", "delay.changed", "flight/UA1", "12:02:00", #""delayMinutes":90,"origin":"EWR""#)),
    ("s", signal("widget.fetched", #""instance":"w1""#)), ("s", signal("app.foregrounded", "")),
    ("e", event("e4", "delay.changed", "flight/UA2", "12:12:00", #""delayMinutes":300"#)),
    ("s", signal("app.backgrounded", "")), ("e", event("e5", "boarding", "flight/UA2", "12:20:00", #""flight":"UA2""#)),
    ("e", event("e6", "cancelled", "flight/UA1", "12:30:00", #""status":"cancelled""#)), ("t", ""),
    ("s", signal("token.rejected", #""token":"aa11""#)),
    ("s", signal("delivery.completed", #""command":"c-0-3-0","outcome":"refused""#)),
    ("e", event("e7", "arrived", "flight/UA1", "13:00:00", #""status":"arrived""#)), ("f", "d2"), ("t", ""),
    ("r", device.replacing("flight/UA2", with: "flight/UA3")), ("t", ""),
  ]

  /// The story as input of the target `pipeline`.
  static let publicRecords: [UInt8] = FuzzFrames.join(
    story.map { [$0.letter.asciiValue ?? 0, 60, 0] + Array($0.text.utf8) })

  /// The records of the story as bytes of the log.
  /// - Throws: when the story is not readable.
  static func logRecords() throws -> [[UInt8]] {
    try story.enumerated().compactMap { index, record in
      guard let content = try FuzzPipeline.content(record.letter, Array(record.text.utf8)) else { return nil }
      var bytes: [UInt8] = []
      LogRecord(origin: Origin(topic: "events", partition: 0, offset: Int64(index)), content: content)
        .encode(into: &bytes)
      return bytes
    }
  }
}
