import Domain
public import JSON
import Policies

/// Writes decisions and commands as JSON straight from a planner's tables: the bytes of their `encode(to:)`, without making
/// the strings. What is the same for all decisions of a record is put into JSON once. One per planner.
public struct DecisionWriter: Sendable {
  /// Log offset that the pieces below belong to.
  private var offset: Int64 = .min
  /// `d-<partition>-<offset>-` and `c-<partition>-<offset>-`
  private var decisionPrefix: [UInt8] = []
  private var commandPrefix: [UInt8] = []
  private var at: [UInt8] = []
  private var expires: [UInt8] = []
  private var policy: [UInt8] = []
  private var reference = PolicyReference(version: "", hash: "")
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
    json.raw(eventID)
    json.key("events")
    if planned.causesCount > 1 { list(planned, output, planner, to: &json) } else { json.raw(eventList) }
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
    json.raw(at)
    numbers(planned, to: &json)
    if planned.command >= 0 {
      json.key("command")
      Self.id(commandPrefix, output.commands[Int(planned.command)].ordinal, to: &json)
    }
    json.key("policy")
    json.raw(policy)
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
      json.string(appending: { Timestamp(microseconds: planned.until).appendRFC3339(to: &$0) })
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
    json.string(appending: { bytes in
      bytes.append(contentsOf: prefix)
      var unit: UInt32 = 1
      while ordinal / unit >= 10 { unit *= 10 }
      while unit > 0 {
        bytes.append(UInt8(ascii: "0") + UInt8(ordinal / unit % 10))
        unit /= 10
      }
    })
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
    json.raw(at)
    json.key("expires")
    json.raw(expires)
    json.key("policy")
    json.raw(policy)
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

  private mutating func begin(_ planner: borrowing Planner) {
    offset = planner.offset
    reference = planner.policy.reference
    event = none
    let place = "\(planner.partition)-\(planner.offset)-"
    decisionPrefix = Array("d-\(place)".utf8)
    commandPrefix = Array("c-\(place)".utf8)
    pieces.reset()
    let now = Timestamp(microseconds: planner.now)
    pieces.string(appending: { now.appendRFC3339(to: &$0) })
    at = pieces.bytes
    pieces.reset()
    let end = Timestamp(microseconds: planner.now &+ planner.bounds.commandLifetime)
    pieces.string(appending: { end.appendRFC3339(to: &$0) })
    expires = pieces.bytes
    pieces.reset()
    pieces.beginObject()
    pieces.key("version")
    pieces.string(reference.version)
    pieces.key("hash")
    pieces.string(reference.hash)
    pieces.endObject()
    policy = pieces.bytes
  }

  private mutating func begin(event slot: UInt32, _ planner: borrowing Planner) {
    event = slot
    pieces.reset()
    pieces.string(planner.events[slot].id)
    eventID = pieces.bytes
    eventList = [UInt8(ascii: "[")] + eventID + [UInt8(ascii: "]")]
  }
}
