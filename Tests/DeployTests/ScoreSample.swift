import Domain
import Foundation
import KafkaClient

/// The policy, devices and events of the pipelines of these tests: widgets of one kind, each with a game whose score changes all the time.
enum ScoreSample {
  /// - Parameters:
  ///   - pushesPerHour: how many pushes a device gets at most. Its widget has some eight tokens to spend at once, and others as
  ///     the day goes on.
  ///   - burst: how many pushes it gets without a wait.
  static func policy(pushesPerHour: Int = 3600, burst: Int = 3) -> String {
    """
    version: score.1
    limits: { devicePushes: { limit: \(pushesPerHour), window: 1h, burst: \(burst) } }
    kinds:
      Score:
        surface: widget
        budget: { perDay: 200, minInterval: 0s }
        rules: [{ event: score.changed, relevance: { base: 0.9 }, maxAge: 1h }]

    """
  }

  /// Creates the topics of a pipeline: that of events with one partition.
  /// - Parameter partitions: the number of partitions of the others.
  /// - Throws: when the broker refuses one.
  static func createTopics(_ broker: EmbeddedBroker, partitions: Int) throws {
    for name in ["log", "state", "commands", "decisions", "dead-letters", "devices", "signals"] {
      try broker.createTopic("rouse.\(name)", partitions: partitions)
    }
    try broker.createTopic("events", partitions: 1)
  }

  /// The registration of the device `d` with a number, with the widget `w` about one of four games.
  static func registration(_ number: Int) -> String {
    #"{"device":"d\#(number)","app":"a","environment":"production","platform":"iOS","osVersion":"26.1","timeZone":"UTC","#
      + #""tokens":{"widgets":"aa\#(10 + number)"},"widgets":[{"id":"w","kind":"Score","family":"systemSmall","#
      + #""interests":["game/\#(number % 4)"]}],"updatedAt":"2026-11-20T10:05:00Z"}"#
  }

  /// An event or a signal of now.
  static func event(_ id: String, type: String = "score.changed", _ subject: String, data: String) -> String {
    let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    return
      #"{"specversion":"1.0","id":"\#(id)","source":"/score","type":"\#(type)","subject":"\#(subject)","time":"\#(now)","#
      + #""data":\#(data)}"#
  }
}
