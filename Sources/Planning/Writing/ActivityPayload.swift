import Domain
import JSON
import Policies

/// The bodies of Live Activity pushes, made from the policy's templates and the event's data.
/// Source of the keys: Apple's page "Starting and updating Live Activities with ActivityKit push notifications".
enum ActivityPayload {
  /// The seconds from 1970 to 2001, the reference date of Swift's default date decoding.
  private static let reference2001 = 978_307_200.0
  /// The longest time that an ended activity stays on the lock screen: Apple removes it after four hours. Seconds.
  private static let dismissalMax: Int64 = 4 * 3600

  /// Returns the body of a push that an event causes.
  /// - Parameters:
  ///   - activity: The policy of the kind.
  ///   - event: The event.
  ///   - action: Whether the push starts, updates or ends the activity.
  ///   - asksForToken: Whether a start asks the system for the token of the activity that it starts.
  ///   - isQuiet: Whether the push must wake nobody, and so has no alert. A start always has one.
  ///   - relevance: The relevance of the event.
  ///   - timestamp: The `timestamp` of the push, in Unix seconds.
  ///   - now: The log time.
  static func make(
    _ activity: ActivityPolicy, event: DomainEvent, action: Rule.Action, asksForToken: Bool, isQuiet: Bool,
    relevance: Double, timestamp: Int64, now: Timestamp
  ) -> String {
    var json = JSONWriter(reserving: 512)
    json.beginObject()
    json.key("aps")
    json.beginObject()
    json.key("timestamp")
    json.integer(timestamp)
    json.key("event")
    json.string(action.rawValue)
    json.key("content-state")
    object(activity.contentState, event, activity.dates, to: &json)
    if action == .end {
      dismissal(activity, now: now, to: &json)
    } else {
      if let stale = activity.staleAfter {
        json.key("stale-date")
        json.integer((now + stale).seconds)
      }
      json.key("relevance-score")
      // Relevance is a `Float`, whose digits beyond the seventh mean nothing, so it is rounded to five decimals.
      json.rounded((relevance * 100_000).rounded() / 100_000 * activity.relevanceScore)
    }
    if action == .start {
      json.key("attributes-type")
      json.string(activity.attributesType ?? "")
      json.key("attributes")
      object(activity.attributes, event, activity.dates, to: &json)
      if asksForToken {
        json.key("input-push-token")
        json.integer(1)
      }
    }
    if let alert = activity.alert, carries(alert, action: action, isQuiet: isQuiet, relevance: relevance) {
      json.key("alert")
      json.beginObject()
      json.key("title")
      json.string(text(alert.title, event))
      json.key("body")
      json.string(text(alert.body, event))
      json.endObject()
    }
    json.endObject()
    json.endObject()
    return json.text
  }

  /// Returns the body of an end that no event causes. The activity keeps its last content.
  /// - Parameters:
  ///   - activity: The policy of the kind.
  ///   - timestamp: The `timestamp` of the push, in Unix seconds.
  ///   - now: The log time.
  static func end(_ activity: ActivityPolicy, timestamp: Int64, now: Timestamp) -> String {
    var json = JSONWriter(reserving: 128)
    json.beginObject()
    json.key("aps")
    json.beginObject()
    json.key("timestamp")
    json.integer(timestamp)
    json.key("event")
    json.string("end" as StaticString)
    dismissal(activity, now: now, to: &json)
    json.endObject()
    json.endObject()
    return json.text
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
    if let alert = activity.alert, carries(alert, action: action, isQuiet: isQuiet, relevance: relevance) {
      for (name, template) in [("alert.title", alert.title), ("alert.body", alert.body)]
        as [(Identifier, InterestTemplate)]
      {
        var json = JSONWriter()
        json.string(text(template, event))
        weighed.append(LargePayload.Member(name: name, bytes: json.bytes.count))
      }
    }
    return Array(weighed.sorted { ($1.bytes, $0.name) < ($0.bytes, $1.name) }.prefix(LargePayload.membersMax))
  }

  private static func carries(
    _ alert: AlertTemplate, action: Rule.Action, isQuiet: Bool, relevance: Double
  ) -> Bool {
    action == .start || !isQuiet && Float(relevance) >= Float(alert.aboveRelevance)
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
    case .date(let path):
      guard case .string(let text) = field(path, event), let instant = Timestamp(rfc3339: text) else {
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

  /// Returns a template's text for an event. Unlike in an interest key, a missing field is left empty.
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
