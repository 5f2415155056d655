import Domain
public import JSON
import Policies

/// Writes decisions and commands as JSON directly from a planner's tables, without making a `Decision` or `Command` first. The
/// bytes equal those of their `encode(to:)`. Parts that are the same for all decisions of a record are made once. Each
/// planner needs a writer of its own.
public struct DecisionWriter: Sendable {
  /// The log offset to which `idStem` belongs.
  private var offset: Int64 = .min
  /// The common part of the ids of the record's decisions (`d`) and commands (`c`): `-<partition>-<offset>-`.
  private(set) var idStem: [UInt8] = []
  /// Whether `requestHashes` belongs to `idStem`.
  private var hasRequestHashes = false
  /// The hashes of that common part of commands, from which the two halves of an APNs request id are made.
  private var requestHashes = (low: Hash64(), high: Hash64())
  /// The log time to which `at` belongs.
  private var now = Timestamp.distantPast
  /// The log time, as JSON.
  private(set) var at: [UInt8] = []
  /// The time to which `expires` belongs.
  private var expiry = Timestamp.distantPast
  /// The time at which commands expire, as JSON.
  private(set) var expires: [UInt8] = []
  /// The offset of the record that put the policy in force for which `reference` was compared last (`Rules.offset`). Comparing it
  /// costs less than comparing the texts of the reference for each decision.
  private var policyOffset: Int64 = .min
  /// The policy to which `policy` belongs.
  private var reference = PolicyReference(version: "", hash: "")
  /// The reference to the policy, as JSON.
  private(set) var policy: [UInt8] = []
  /// The event of the record to which the four texts below belong.
  private(set) var event = EventSlot.absent
  /// The event's id, as JSON.
  private(set) var eventID: [UInt8] = []
  /// The members `"event":…,"events":[…]` of a decision without merged events.
  private var eventMembers: [UInt8] = []
  /// The members `"event":…,"events":[…]` of a decision with merged events.
  private var mergedMembers: [UInt8] = []
  /// The member `,"traceparent":…`; empty when the event has none.
  private(set) var traceparent: [UInt8] = []
  /// The names of kinds as JSON, by slot; empty until they are needed.
  private var kindNames: [[UInt8]] = []
  /// The texts of apps as JSON, by slot; those of an app are made when they are first needed.
  private var apps: [AppTexts] = []
  /// The token of the current command, in hexadecimal digits.
  var tokenDigits: [UInt8] = []
  private var pieces = JSONWriter(reserving: 512)

  /// The texts that commands to an app contain, as JSON.
  private struct AppTexts {
    /// `AppState.number` of the app, to notice that another app has taken its slot; 0 when there are no texts yet.
    var number: UInt64 = 0
    var id: [UInt8] = []
    /// The value of `apns-topic` for widget pushes.
    var topic: [UInt8] = []
  }

  /// Creates a writer without cached texts.
  public init() {}

  /// Writes the Kafka key of a command, its device's id, and begins the JSON document that follows it.
  /// - Parameters:
  ///   - index: The index of the command in `output`.
  ///   - output: The output of the planner's last step.
  ///   - planner: The planner.
  ///   - json: Receives the key.
  public func beginDocument(
    ofCommand index: Int, of output: PlannerOutput, by planner: borrowing Planner, to json: inout JSONWriter
  ) {
    let device = planner.fleet.registry.devices[output.commands[index].device]
    json.beginDocument(
      after: planner.fleet.registry.texts.bytes.span.extracting(planner.fleet.registry.texts.range(of: device.id)))
  }

  /// Writes one decision of the planner's last step. Its largest size is computed first, so that it is written in one piece.
  /// - Parameters:
  ///   - index: The index of the decision in `output`.
  ///   - output: The output of the planner's last step.
  ///   - planner: The planner that this writer belongs to.
  ///   - json: Receives the decision as a JSON object.
  public mutating func write(
    _ index: Int, of output: PlannerOutput, by planner: borrowing Planner, to json: inout JSONWriter
  ) {
    let planned = output.decisions[index]
    if index % Fleet.prefetchMax == 0, output.decisionCount > 1 { planner.fleet.prefetch(idsFrom: index, of: output) }
    prepare(planner.fleet)
    if planned.event != event { begin(event: planned.event, planner.fleet) }
    let isMerged = planned.causesCount > 1
    if isMerged { merge(planned, output, planner.fleet) }
    let instance = planner.fleet.registry.instances[planned.instance]
    let texts = planner.fleet.registry.texts.bytes.span
    let device = texts.extracting(planner.fleet.registry.idRange(of: instance.device))
    let name = texts.extracting(planner.fleet.registry.idRange(of: planned.instance))
    let kind = kindName(planned.kind, planner.fleet)
    let (surface, verdict, reason) = (planned.surface.rawValue, planned.verdict.rawValue, planned.reason.rawValue)
    let command = output.command(of: planned, offset: offset)
    let partition = planner.fleet.partition
    let fixed = Self.fixedMax + 2 * idStem.count + at.count + policy.count
    let ofEvent = (isMerged ? mergedMembers.count : eventMembers.count) + traceparent.count
    let names = OutputSpan<UInt8>.quotedMax(device.count) + OutputSpan<UInt8>.quotedMax(name.count) + kind.count
    json.piece(ofAtMost: fixed + ofEvent + names) { room in
      room.append("{\"decision\":\"d")
      room.append(idStem.span)
      room.append(decimal: UInt64(planned.ordinal))
      room.append("\",")
      if isMerged { room.append(mergedMembers.span) } else { room.append(eventMembers.span) }
      room.append(",\"device\":")
      room.append(quoted: device)
      room.append(",\"instance\":")
      room.append(quoted: name)
      room.append(",\"kind\":")
      room.append(kind.span)
      room.append(",\"surface\":\"")
      room.append(surface.utf8.span)
      room.append("\",\"verdict\":\"")
      room.append(verdict.utf8.span)
      room.append("\",\"reason\":\"")
      room.append(reason.utf8.span)
      room.append(planned.final ? "\",\"final\":true,\"at\":" : "\",\"final\":false,\"at\":")
      room.append(at.span)
      Self.numbers(planned, to: &room)
      if let command {
        room.append(",\"command\":\"c-")
        room.append(decimal: UInt64(partition))
        room.append(UInt8(ascii: "-"))
        room.append(decimal: UInt64(command.offset))
        room.append(UInt8(ascii: "-"))
        room.append(decimal: UInt64(command.ordinal))
        room.append("\"")
      }
      switch planned.objective {
      case .met: room.append(",\"objective\":\"met\"")
      case .missed: room.append(",\"objective\":\"missed\"")
      case nil: break
      }
      room.append(",\"policy\":")
      room.append(policy.span)
      room.append(traceparent.span)
      room.append("}")
    }
  }

  /// An upper bound on the bytes of the keys, the numbers, an instant, and the longest surface, verdict and reason.
  private static let fixedMax = 512 + 5 * OutputSpan<UInt8>.roundedMax + 7 * OutputSpan<UInt8>.decimalMax

  @inline(__always)
  private static func numbers(_ planned: PlannedDecision, to room: inout OutputSpan<UInt8>) {
    room.append(",\"relevance\":")
    room.append(rounded: Double(planned.relevance))
    room.append(",\"wrong\":")
    room.append(rounded: Double(planned.wrong))
    room.append(",\"looks\":")
    room.append(rounded: Double(planned.looks))
    room.append(",\"value\":")
    room.append(rounded: Double(planned.value))
    room.append(",\"price\":")
    room.append(rounded: Double(planned.price))
    room.append(",\"tokensLeft\":{")
    var isFirst = true
    left("\"instance\":", planned.leftInstance, &isFirst, to: &room)
    left("\"device\":", planned.leftDevice, &isFirst, to: &room)
    left("\"app\":", planned.leftApp, &isFirst, to: &room)
    room.append("}")
    if planned.until != .distantFuture {
      room.append(",\"until\":\"")
      planned.until.appendRFC3339(to: &room)
      room.append("\"")
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

  private mutating func merge(_ planned: PlannedDecision, _ output: PlannerOutput, _ fleet: borrowing Fleet) {
    pieces.reset()
    pieces.key("event")
    pieces.string(fleet.pending.events[planned.event].id.text)
    pieces.key("events")
    pieces.beginArray()
    for place in Int(planned.causesStart)..<Int(planned.causesStart + planned.causesCount) {
      pieces.string(fleet.pending.events[output.causes[place]].id.text)
    }
    pieces.endArray()
    mergedMembers.removeAll(keepingCapacity: true)
    mergedMembers.append(contentsOf: pieces.bytes)
  }

  /// Updates the cached texts for the planner's current record.
  mutating func prepare(_ fleet: borrowing Fleet) {
    if fleet.record.offset == offset, fleet.rules.offset == policyOffset { return }
    begin(fleet)
  }

  /// Returns the APNs request id of a command of the current record, the same as `APNsRequests.requestID` returns.
  /// - Parameter ordinal: The last part of the command's id.
  mutating func requestID(_ ordinal: UInt32) -> APNsRequests.RequestID {
    if !hasRequestHashes { hashStem() }
    var (low, high) = requestHashes
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

  private mutating func hashStem() {
    hasRequestHashes = true
    requestHashes = (Hash64(), Hash64())
    requestHashes.high.add("apns-id")
    requestHashes.low.add(byte: UInt8(ascii: "c"))
    requestHashes.high.add(byte: UInt8(ascii: "c"))
    for byte in idStem {
      requestHashes.low.add(byte: byte)
      requestHashes.high.add(byte: byte)
    }
  }

  // MARK: Texts as JSON

  /// Returns the name of a kind as JSON. A kind never changes its name.
  mutating func kindName(_ kind: KindSlot, _ fleet: borrowing Fleet) -> [UInt8] {
    if kind.index < kindNames.count, !kindNames[kind.index].isEmpty { return kindNames[kind.index] }
    while kindNames.count <= kind.index { kindNames.append([]) }
    kindNames[kind.index] = Self.json(fleet.rules[kind].name.text)
    return kindNames[kind.index]
  }

  /// Returns the id of an app as JSON.
  mutating func appID(_ app: AppSlot, _ fleet: borrowing Fleet) -> [UInt8] {
    prepare(app: app, fleet)
    return apps[app.index].id
  }

  /// Returns the value of `apns-topic` for widget pushes to an app, as JSON.
  mutating func topic(ofApp app: AppSlot, _ fleet: borrowing Fleet) -> [UInt8] {
    prepare(app: app, fleet)
    return apps[app.index].topic
  }

  private mutating func prepare(app: AppSlot, _ fleet: borrowing Fleet) {
    let number = fleet.ledgers.apps[app].number
    if app.index < apps.count, apps[app.index].number == number { return }
    let id = fleet.ledgers.apps[app].id
    while apps.count <= app.index { apps.append(AppTexts()) }
    apps[app.index] = AppTexts(
      number: number, id: Self.json(id.text), topic: Self.json(APNsRequests.widgetsTopic(app: id)))
  }

  private static func json(_ text: String) -> [UInt8] {
    var json = JSONWriter()
    json.string(text)
    return json.bytes
  }

  /// Updates the cached texts that all decisions of a record share. The storage is reused, because every event begins a record.
  private mutating func begin(_ fleet: borrowing Fleet) {
    offset = fleet.record.offset
    event = .absent
    stem(fleet.partition, offset)
    if fleet.now != now {
      now = fleet.now
      Self.instant(now, &at)
    }
    policyOffset = fleet.rules.offset
    guard fleet.rules.policy.reference != reference else { return }
    reference = fleet.rules.policy.reference
    pieces.reset()
    pieces.beginObject()
    pieces.key("version")
    pieces.string(reference.version.text)
    pieces.key("hash")
    pieces.string(reference.hash.text)
    pieces.endObject()
    policy = pieces.bytes
  }

  /// Caches the expiry text that only commands need.
  mutating func prepareCommand(_ fleet: borrowing Fleet) {
    prepare(fleet)
    let due = fleet.now + fleet.bounds.commandLifetime
    if due == expiry { return }
    expiry = due
    Self.instant(due, &expires)
  }

  /// Sets `idStem`.
  private mutating func stem(_ partition: Int32, _ offset: Int64) {
    idStem.removeAll(keepingCapacity: true)
    hasRequestHashes = false
    idStem.append(addingCapacity: 3 + 2 * OutputSpan<UInt8>.decimalMax) { (room: inout OutputSpan<UInt8>) in
      room.append(UInt8(ascii: "-"))
      room.append(decimal: UInt64(partition))
      room.append(UInt8(ascii: "-"))
      room.append(decimal: UInt64(offset))
      room.append(UInt8(ascii: "-"))
    }
  }

  /// Writes an instant as a JSON string.
  private static func instant(_ instant: Timestamp, _ text: inout [UInt8]) {
    text.removeAll(keepingCapacity: true)
    text.append(addingCapacity: Timestamp.textMax + 2) { (room: inout OutputSpan<UInt8>) in
      room.append(UInt8(ascii: "\""))
      instant.appendRFC3339(to: &room)
      room.append(UInt8(ascii: "\""))
    }
  }

  /// Caches the texts of an event in place of those of the one before.
  mutating func begin(event slot: EventSlot, _ fleet: borrowing Fleet) {
    event = slot
    let text = fleet.pending.events[slot].id
    eventID.removeAll(keepingCapacity: true)
    eventID.append(addingCapacity: OutputSpan<UInt8>.quotedMax(text.utf8.count)) { (room: inout OutputSpan<UInt8>) in
      room.append(quoted: text.utf8.span)
    }
    eventMembers.removeAll(keepingCapacity: true)
    let id = eventID
    eventMembers.append(addingCapacity: 2 * id.count + 32) { (room: inout OutputSpan<UInt8>) in
      room.append("\"event\":")
      room.append(id.span)
      room.append(",\"events\":[")
      room.append(id.span)
      room.append("]")
    }
    traceparent.removeAll(keepingCapacity: true)
    guard let text = fleet.pending.events[slot].traceparent else { return }
    pieces.reset()
    pieces.string(text)
    traceparent += ",\"traceparent\":".utf8
    traceparent += pieces.bytes
  }
}
