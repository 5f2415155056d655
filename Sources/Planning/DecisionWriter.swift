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
  private var eventID: [UInt8] = []
  private var eventList: [UInt8] = []
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
    json.key("event")
    json.raw(utf8: eventID.span)
    json.key("events")
    if planned.causesCount > 1 { list(planned, output, planner, to: &json) } else { json.raw(utf8: eventList.span) }
    json.key("device")
    json.string(utf8: planner.texts.bytes.span.extracting(planner.texts.range(of: planner.devices[device].id)))
    json.key("instance")
    json.string(
      utf8: planner.texts.bytes.span.extracting(
        planner.texts.range(of: planner.instanceIDs.handle(planner.instances[planned.instance].id))))
    json.key("kind")
    json.string(planner.kinds[Int(planned.kind)].name)
    json.key("surface")
    json.string(planned.surface.rawValue)
    json.key("verdict")
    json.string(planned.verdict.rawValue)
    json.key("reason")
    json.string(planned.reason.rawValue)
    json.key("final")
    json.bool(planned.final)
    json.key("at")
    json.raw(utf8: at.span)
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
    json.key("relevance")
    json.rounded(Double(planned.relevance))
    json.key("value")
    json.rounded(Double(planned.value))
    json.key("price")
    json.rounded(Double(planned.price))
    json.key("tokensLeft")
    json.beginObject()
    if planned.leftInstance >= 0 {
      json.key("instance")
      json.integer(Int(planned.leftInstance))
    }
    if planned.leftDevice >= 0 {
      json.key("device")
      json.integer(Int(planned.leftDevice))
    }
    if planned.leftApp >= 0 {
      json.key("app")
      json.integer(Int(planned.leftApp))
    }
    json.endObject()
    if planned.until != .max {
      json.key("until")
      json.string(ofAtMost: Timestamp.textMax) { Timestamp(microseconds: planned.until).appendRFC3339(to: &$0) }
    }
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
    eventID.removeAll(keepingCapacity: true)
    eventID += pieces.bytes
    eventList.removeAll(keepingCapacity: true)
    eventList.append(UInt8(ascii: "["))
    eventList += pieces.bytes
    eventList.append(UInt8(ascii: "]"))
  }
}
