import Domain
import JSON
import Policies

/// The bodies of Live Activity pushes, made from the policy's templates and what is known of the subject.
/// Source of the keys: Apple's page "Starting and updating Live Activities with ActivityKit push notifications".
enum ActivityPayload {
  /// The seconds from 1970 to 2001, the reference date of Swift's default date decoding.
  private static let reference2001 = 978_307_200.0
  /// The longest time that an ended activity stays on the lock screen: Apple removes it after four hours. Seconds.
  private static let dismissalMax: Int64 = 4 * 3600

  /// Returns the body of a push that an event causes; nil if something is not known that a start or an update requires, as is the channel
  /// of a start. An end has no content then: the activity keeps its last one.
  /// - Parameters:
  ///   - activity: The policy of the kind.
  ///   - event: The event, with all that is known of its subject.
  ///   - action: Whether the push starts, updates or ends the activity.
  ///   - asksForToken: Whether a start asks the system for the token of the activity that it starts, if that listens to no channel.
  ///   - isQuiet: Whether the push must wake nobody, and so has no alert. A start always has one.
  ///   - relevance: The relevance of the event; 0 for a push that no event causes.
  ///   - score: How much the activity matters, 0…1; nil if that is not known.
  ///   - timestamp: The `timestamp` of the push, in Unix seconds.
  ///   - now: The log time.
  static func make(
    _ activity: ActivityPolicy, event: DomainEvent, action: Rule.Action, asksForToken: Bool, isQuiet: Bool,
    relevance: Double, score: Double?, timestamp: Int64, now: Timestamp
  ) -> String? {
    let hasContent = isComplete(activity.contentState, event)
    if action != .end, !hasContent || action == .start && !isComplete(activity.attributes, event) { return nil }
    let alert = alert(activity, event, action: action, isQuiet: isQuiet, relevance: relevance)
    var asks = Asks.nothing
    if action == .start {
      if alert == nil { return nil }
      if let template = activity.channel {
        guard let channel = template.key(for: event), !channel.text.isEmpty else { return nil }
        asks = .channel(channel.text)
      } else if asksForToken {
        asks = .token
      }
    }
    return body(
      activity, hasContent ? event : nil, alert, action: action, asks, score: score, timestamp: timestamp, now: now)
  }

  /// Returns the body of an end that no event causes.
  /// - Parameters:
  ///   - activity: The policy of the kind.
  ///   - known: An event with all that is known of the activity's subject; nil if nothing is. The activity keeps its last content then.
  ///   - timestamp: The `timestamp` of the push, in Unix seconds.
  ///   - now: The log time.
  static func end(_ activity: ActivityPolicy, _ known: DomainEvent?, timestamp: Int64, now: Timestamp) -> String {
    let known = known.flatMap { isComplete(activity.contentState, $0) ? $0 : nil }
    return body(
      activity, known, nil, action: .end, .nothing, score: nil, timestamp: timestamp, now: now)
  }

  /// The request of a start to the system.
  private enum Asks {
    case nothing
    /// The token of the activity.
    case token
    /// Listening to a channel.
    case channel(String)
  }

  private static func body(
    _ activity: ActivityPolicy, _ known: DomainEvent?, _ alert: Alert?, action: Rule.Action,
    _ asks: Asks, score: Double?, timestamp: Int64, now: Timestamp
  ) -> String {
    var json = JSONWriter(reserving: 512)
    json.beginObject()
    json.key("aps")
    json.beginObject()
    json.key("timestamp")
    json.integer(timestamp)
    json.key("event")
    json.string(action.rawValue)
    if let known {
      json.key("content-state")
      object(activity.contentState, known, activity.dates, to: &json)
    }
    if action == .end {
      dismissal(activity, now: now, to: &json)
    } else {
      if let stale = activity.staleAfter {
        json.key("stale-date")
        json.integer((now + stale).seconds)
      }
      if let score, activity.relevanceScore > 0 {
        json.key("relevance-score")
        // Relevance is a `Float`, whose digits beyond the seventh mean nothing, so it is rounded to five decimals.
        json.rounded((score * 100_000).rounded() / 100_000 * activity.relevanceScore)
      }
    }
    if action == .start, let known {
      json.key("attributes-type")
      json.string(activity.attributesType ?? "")
      json.key("attributes")
      object(activity.attributes, known, activity.dates, to: &json)
      switch asks {
      case .nothing: break
      case .token: json.member("input-push-token", 1)
      case .channel(let channel): json.member("input-push-channel", channel)
      }
    }
    if let alert {
      json.key("alert")
      json.beginObject()
      json.key("title")
      alert.title.write(to: &json)
      json.key("body")
      alert.body.write(to: &json)
      if let sound = activity.alert?.sound { json.member("sound", sound) }
      json.endObject()
    }
    json.endObject()
    json.endObject()
    return json.text
  }

  /// The largest size of the attributes and the content of an activity together, in bytes of JSON, whatever a push may have.
  /// Source: Apple's page "Displaying live data with Live Activities" (4 KB).
  /// - Beyond: a start or an update is not sent (`PAYLOAD_TOO_LARGE`), and an end has no content.
  static let dataBytesMax = 4096

  /// Returns the size of the attributes and the content of an activity together, in bytes of JSON. The attributes came with the start, and
  /// count for each update; they are taken as they would be now.
  static func dataBytes(_ activity: ActivityPolicy, _ known: DomainEvent) -> Int {
    [activity.contentState, activity.attributes].reduce(0) { bytes, members in
      if members.isEmpty { return bytes }
      var json = JSONWriter()
      object(members, known, activity.dates, to: &json)
      return bytes + json.bytes.count
    }
  }

  /// Returns the largest members of the body that `make` returns, largest first, at most `LargePayload.membersMax`.
  static func largest(
    _ activity: ActivityPolicy, event: DomainEvent, action: Rule.Action, isQuiet: Bool, relevance: Double
  ) -> [LargePayload.Member] {
    let members = activity.contentState + (action == .start ? activity.attributes : [])
    var weighed = members.map { member -> LargePayload.Member in
      var json = JSONWriter()
      value(member.value, event, activity.dates, to: &json)
      return LargePayload.Member(name: member.name, bytes: json.bytes.count)
    }
    if let alert = alert(activity, event, action: action, isQuiet: isQuiet, relevance: relevance) {
      for (name, text) in [("alert.title", alert.title), ("alert.body", alert.body)] as [(Identifier, SaidText)] {
        var json = JSONWriter()
        text.write(to: &json)
        weighed.append(LargePayload.Member(name: name, bytes: json.bytes.count))
      }
    }
    return Array(weighed.sorted { ($1.bytes, $0.name) < ($0.bytes, $1.name) }.prefix(LargePayload.membersMax))
  }

  /// The texts of an alert, as a push says them.
  private struct Alert {
    var title, body: SaidText
  }

  /// A text of an alert, as a push says it.
  private enum SaidText {
    case text(String)
    case localized(key: String, arguments: [String])

    /// Says a text; nil if it names a field that is not known, or is empty.
    init?(_ text: AlertText, _ event: DomainEvent) {
      switch text {
      case .text(let template):
        guard let said = template.key(for: event), !said.text.isEmpty else { return nil }
        self = .text(said.text)
      case .localized(let key, let arguments):
        let said = arguments.compactMap { $0.key(for: event)?.text }
        guard said.count == arguments.count else { return nil }
        self = .localized(key: key.text, arguments: said)
      }
    }

    func write(to json: inout JSONWriter) {
      switch self {
      case .text(let text): json.string(text)
      case .localized(let key, let arguments):
        json.beginObject()
        json.member("loc-key", key)
        if !arguments.isEmpty {
          json.key("loc-args")
          json.beginArray()
          for argument in arguments { json.string(argument) }
          json.endArray()
        }
        json.endObject()
      }
    }
  }

  /// Returns the alert that a push carries; nil if it carries none, or if one of its texts names a field that is not known.
  private static func alert(
    _ activity: ActivityPolicy, _ event: DomainEvent, action: Rule.Action, isQuiet: Bool, relevance: Double
  ) -> Alert? {
    guard let alert = activity.alert,
      action == .start || !isQuiet && Float(relevance) >= Float(alert.aboveRelevance),
      let title = SaidText(alert.title, event), let body = SaidText(alert.body, event)
    else { return nil }
    return Alert(title: title, body: body)
  }

  /// Returns whether each required member has a value.
  private static func isComplete(_ members: [TemplateMember], _ event: DomainEvent) -> Bool {
    members.allSatisfy { member in
      switch member.value {
      case .object(let members): isComplete(members, event)
      case .field(let path, let fallback): !member.isRequired || !isNull(field(path, event) ?? fallback)
      case .date(let path, let unit): !member.isRequired || instant(path, unit, event) != nil
      case .constant, .text: true
      }
    }
  }

  private static func isNull(_ value: FieldValue) -> Bool { if case .null = value { true } else { false } }

  /// Returns the instant that a field says; nil if it is not known, of another form, or not in the years 0 to 9999.
  private static func instant(_ path: Identifier, _ unit: DateUnit?, _ event: DomainEvent) -> Timestamp? {
    guard let unit else {
      guard case .string(let text) = field(path, event) else { return nil }
      return Timestamp(rfc3339: text)
    }
    guard let number = field(path, event)?.nearestNumber else { return nil }
    let seconds = unit == .seconds ? number : number / 1000
    guard (-62_167_219_200..<253_402_300_800).contains(seconds) else { return nil }
    return Timestamp(microseconds: Int64((seconds * 1_000_000).rounded()))
  }

  private static func dismissal(_ activity: ActivityPolicy, now: Timestamp, to json: inout JSONWriter) {
    let second = now.seconds
    switch activity.dismissal {
    case .default: return
    // The system removes an activity at once when the date is in the past.
    case .immediate:
      json.key("dismissal-date")
      json.integer(second - 1)
    case .after(let span):
      json.key("dismissal-date")
      json.integer(second + min(dismissalMax, span.microseconds / 1_000_000))
    }
  }

  private static func object(
    _ members: [TemplateMember], _ event: DomainEvent, _ dates: ActivityPolicy.DateBase, to json: inout JSONWriter
  ) {
    json.beginObject()
    for member in members {
      json.key(member.name.text)
      value(member.value, event, dates, to: &json)
    }
    json.endObject()
  }

  private static func value(
    _ template: TemplateValue, _ event: DomainEvent, _ dates: ActivityPolicy.DateBase, to json: inout JSONWriter
  ) {
    switch template {
    case .constant(let constant): scalar(constant, to: &json)
    case .field(let path, let fallback): scalar(field(path, event) ?? fallback, to: &json)
    case .text(let template): json.string(text(template, event))
    case .date(let path, let unit):
      guard let instant = instant(path, unit, event) else {
        json.null()
        return
      }
      let seconds = Double(instant.microseconds) / 1_000_000
      json.number(dates == .unix ? seconds : seconds - reference2001)
    case .object(let members): object(members, event, dates, to: &json)
    }
  }

  private static func field(_ path: Identifier, _ event: DomainEvent) -> FieldValue? {
    switch path {
    case "subject": .string(event.subject.text)
    case "type": .string(event.type.text)
    case "source": .string(event.source.text)
    default: event.value(at: path)
    }
  }

  private static func scalar(_ value: FieldValue, to json: inout JSONWriter) {
    switch value {
    case .null: json.null()
    case .bool(let flag): json.bool(flag)
    case .number(let number), .inexact(let number): json.number(number)
    case .integer(let integer): json.raw(integer.description)
    case .string(let text): json.string(text)
    }
  }

  /// Returns a template's text. Unlike in an interest key and in an alert, a field that is not known is left empty.
  private static func text(_ template: InterestTemplate, _ event: DomainEvent) -> String {
    template.parts.reduce(into: "") { text, part in
      switch part {
      case .text(let fixed): text += fixed
      case .field(let path):
        let value = field(path, event)
        switch value {
        case .string(let value): text += value
        case .number, .integer, .inexact: text += value?.numberText ?? ""
        case .bool(let flag): text += flag ? "true" : "false"
        case .null, nil: break
        }
      case .filtered(let path, let filters): text += InterestTemplate.text(of: path, in: event, filters) ?? ""
      }
    }
  }
}
