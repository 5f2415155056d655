import Domain
public import JSON
import Policies

/// Writes decisions and commands as JSON straight from a planner's tables: the bytes of their `encode(to:)`, without making
/// the strings. What is the same for all decisions of a record is put into JSON once. One per planner.
public struct DecisionWriter: Sendable {
  /// Log offset that the ids belong to.
  private var offset: Int64 = .min
  /// `d-<partition>-<offset>-` and `c-<partition>-<offset>-`
  private var decisionPrefix: [UInt8] = []
  private var commandPrefix: [UInt8] = []
  /// Log time, µs, that `at` and `expires` belong to.
  private var now: Int64 = .min
  private var at: [UInt8] = []
  private var expires: [UInt8] = []
  /// Policy that `policy` belongs to.
  private var reference = PolicyReference(version: "", hash: "")
  private var policy: [UInt8] = []
  /// Slot of the event that the pieces below belong to, within the record.
  private var event: UInt32 = none
  /// `"event":…,"events":[…],"device":` of a decision that no other event is part of.
  private var eventMembers: [UInt8] = []
  /// `apns-topic` of widget pushes, by app.
  private var topics: [UInt32: [UInt8]] = [:]
  /// The token of the command in hand.
  var tokenDigits: [UInt8] = []
  private var pieces = JSONWriter(reserving: 512)

  public init() {}

  /// Writes one decision of the planner's last step.
  public mutating func write(
    _ index: Int, of output: PlannerOutput, by planner: borrowing Planner, to json: inout JSONWriter
  ) {
    let planned = output.decisions[index]
    prepare(planner)
    if planned.event != event { begin(event: planned.event, planner) }
    let device = planner.instances[planned.instance].device
    json.beginObject()
    json.key("decision")
    Self.id(decisionPrefix, planned.ordinal, to: &json)
    if planned.causesCount > 1 {
      json.key("event")
      json.string(planner.events[planned.event].id)
      json.key("events")
      list(planned, output, planner, to: &json)
      json.key("device")
    } else {
      json.membersBeforeValue(utf8: eventMembers.span)
    }
    json.string(utf8: planner.texts.bytes.span.extracting(planner.texts.range(of: planner.devices[device].id)))
    json.key("instance")
    json.string(
      utf8: planner.texts.bytes.span.extracting(
        planner.texts.range(of: planner.instanceIDs.handle(planner.instances[planned.instance].id))))
    json.key("kind")
    json.string(planner.kinds[Int(planned.kind)].name)
    let (surface, verdict, reason) = (planned.surface.rawValue, planned.verdict.rawValue, planned.reason.rawValue)
    json.members(ofAtMost: surface.utf8.count + verdict.utf8.count + reason.utf8.count + at.count + 60) { room in
      room.append("\"surface\":\"")
      room.append(surface.utf8.span)
      room.append("\",\"verdict\":\"")
      room.append(verdict.utf8.span)
      room.append("\",\"reason\":\"")
      room.append(reason.utf8.span)
      room.append(planned.final ? "\",\"final\":true,\"at\":" : "\",\"final\":false,\"at\":")
      room.append(at.span)
    }
    numbers(planned, to: &json)
    if planned.command >= 0 {
      json.key("command")
      Self.id(commandPrefix, output.commands[Int(planned.command)].ordinal, to: &json)
    }
    json.key("policy")
    json.raw(utf8: policy.span)
    if let traceparent = planner.events[planned.event].traceparent {
      json.key("traceparent")
      json.string(traceparent)
    }
    json.endObject()
  }

  private func numbers(_ planned: PlannedDecision, to json: inout JSONWriter) {
    let (relevance, value, price) = (Double(planned.relevance), Double(planned.value), Double(planned.price))
    if JSONWriter.isRounded(relevance), JSONWriter.isRounded(value), JSONWriter.isRounded(price) {
      json.members(ofAtMost: 3 * OutputSpan<UInt8>.roundedMax + 40) { room in
        room.append("\"relevance\":")
        room.append(rounded: relevance)
        room.append(",\"value\":")
        room.append(rounded: value)
        room.append(",\"price\":")
        room.append(rounded: price)
      }
    } else {
      json.key("relevance")
      json.rounded(relevance)
      json.key("value")
      json.rounded(value)
      json.key("price")
      json.rounded(price)
    }
    json.members(ofAtMost: 3 * OutputSpan<UInt8>.decimalMax + 60) { room in
      room.append("\"tokensLeft\":{")
      var isFirst = true
      Self.left("\"instance\":", planned.leftInstance, &isFirst, to: &room)
      Self.left("\"device\":", planned.leftDevice, &isFirst, to: &room)
      Self.left("\"app\":", planned.leftApp, &isFirst, to: &room)
      room.append("}")
    }
    if planned.until != .max {
      json.key("until")
      json.string(ofAtMost: Timestamp.textMax) { Timestamp(microseconds: planned.until).appendRFC3339(to: &$0) }
    }
  }

  @inline(__always)
  private static func left(
    _ key: StaticString, _ count: Int32, _ isFirst: inout Bool, to room: inout OutputSpan<UInt8>
  ) {
    guard count >= 0 else { return }
    if !isFirst { room.append(UInt8(ascii: ",")) }
    isFirst = false
    room.append(key)
    room.append(decimal: UInt64(count))
  }

  private func list(
    _ planned: PlannedDecision, _ output: PlannerOutput, _ planner: borrowing Planner, to json: inout JSONWriter
  ) {
    json.beginArray()
    for place in Int(planned.causesStart)..<Int(planned.causesStart + planned.causesCount) {
      json.string(planner.events[output.causes[place]].id)
    }
    json.endArray()
  }

  private static func id(_ prefix: [UInt8], _ ordinal: UInt32, to json: inout JSONWriter) {
    json.string(ofAtMost: prefix.count + OutputSpan<UInt8>.decimalMax) { room in
      room.append(prefix.span)
      room.append(decimal: UInt64(ordinal))
    }
  }

  /// Makes the pieces fit the record in hand.
  @inline(__always)
  mutating func prepare(_ planner: borrowing Planner) {
    if planner.offset != offset || planner.policy.reference != reference { begin(planner) }
  }

  func commandID(_ ordinal: UInt32, to json: inout JSONWriter) { Self.id(commandPrefix, ordinal, to: &json) }

  /// `at`, `expires` and `policy` of a command.
  func instants(to json: inout JSONWriter) {
    json.key("at")
    json.raw(utf8: at.span)
    json.key("expires")
    json.raw(utf8: expires.span)
    json.key("policy")
    json.raw(utf8: policy.span)
  }

  /// Of the command's id.
  func requestID(_ ordinal: UInt32) -> APNsRequests.RequestID {
    var low = Hash64()
    for byte in commandPrefix { low.add(byte: byte) }
    var high = Hash64()
    high.add("apns-id")
    for byte in commandPrefix { high.add(byte: byte) }
    var unit: UInt32 = 1
    while ordinal / unit >= 10 { unit *= 10 }
    while unit > 0 {
      let digit = UInt8(ascii: "0") + UInt8(ordinal / unit % 10)
      low.add(byte: digit)
      high.add(byte: digit)
      unit /= 10
    }
    low.add(byte: 0xff)
    high.add(byte: 0xff)
    return APNsRequests.RequestID(high: high.value, low: low.value)
  }

  mutating func topic(ofApp app: UInt32, _ planner: borrowing Planner) -> [UInt8] {
    if let known = topics[app] { return known }
    pieces.reset()
    pieces.string(APNsRequests.widgetsTopic(app: planner.apps[Int(app)].id))
    topics[app] = pieces.bytes
    return pieces.bytes
  }

  /// In place: a planner begins a record for each event.
  private mutating func begin(_ planner: borrowing Planner) {
    offset = planner.offset
    event = none
    Self.prefix("d", planner.partition, offset, &decisionPrefix)
    Self.prefix("c", planner.partition, offset, &commandPrefix)
    if planner.now != now {
      now = planner.now
      Self.instant(now, &at)
      Self.instant(now &+ planner.bounds.commandLifetime, &expires)
    }
    guard planner.policy.reference != reference else { return }
    reference = planner.policy.reference
    pieces.reset()
    pieces.beginObject()
    pieces.key("version")
    pieces.string(reference.version)
    pieces.key("hash")
    pieces.string(reference.hash)
    pieces.endObject()
    policy = pieces.bytes
  }

  /// Given numbers: a closure that reads them from the planner would have a copy of it, table by table.
  private static func prefix(_ letter: Unicode.Scalar, _ partition: Int32, _ offset: Int64, _ prefix: inout [UInt8]) {
    prefix.removeAll(keepingCapacity: true)
    prefix.append(addingCapacity: 4 + 2 * OutputSpan<UInt8>.decimalMax) { (room: inout OutputSpan<UInt8>) in
      room.append(UInt8(ascii: letter))
      room.append(UInt8(ascii: "-"))
      room.append(decimal: UInt64(partition))
      room.append(UInt8(ascii: "-"))
      room.append(decimal: UInt64(offset))
      room.append(UInt8(ascii: "-"))
    }
  }

  /// A JSON text.
  private static func instant(_ microseconds: Int64, _ text: inout [UInt8]) {
    text.removeAll(keepingCapacity: true)
    text.append(addingCapacity: Timestamp.textMax + 2) { (room: inout OutputSpan<UInt8>) in
      room.append(UInt8(ascii: "\""))
      Timestamp(microseconds: microseconds).appendRFC3339(to: &room)
      room.append(UInt8(ascii: "\""))
    }
  }

  private mutating func begin(event slot: UInt32, _ planner: borrowing Planner) {
    event = slot
    pieces.reset()
    pieces.string(planner.events[slot].id)
    eventMembers.removeAll(keepingCapacity: true)
    let id = pieces.bytes
    eventMembers.append(addingCapacity: 2 * id.count + 32) { (room: inout OutputSpan<UInt8>) in
      room.append("\"event\":")
      room.append(id.span)
      room.append(",\"events\":[")
      room.append(id.span)
      room.append("],\"device\":")
    }
  }
}
