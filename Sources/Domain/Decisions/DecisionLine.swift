/// A decision as the places of its members in a buffer, usually the bytes of the block that it is a line of. Making one allocates
/// nothing, so that a store can take in blocks without building a `Decision` for each line.
///
/// `DecisionBlockReader` makes lines. `decision` builds the full value.
public struct DecisionLine: Sendable {
  /// The place of a text in the buffer.
  public struct Place: Equatable, Sendable {
    fileprivate let start: UInt32
    fileprivate let end: UInt32

    /// The place that stands for a member that is absent.
    static let absent = Place(start: 1, end: 0)

    private init(start: UInt32, end: UInt32) {
      self.start = start
      self.end = end
    }

    /// Creates a place from offsets. They must not be negative, and must fit in 32 bits.
    init(_ start: Int, _ end: Int) { self.init(start: UInt32(start), end: UInt32(end)) }

    /// Whether the member is there.
    public var isPresent: Bool { start <= end }

    /// The offsets in the buffer; empty if the member is absent.
    public var range: Range<Int> { isPresent ? Int(start)..<Int(end) : 0..<0 }

    /// The number of bytes.
    public var count: Int { isPresent ? Int(end - start) : 0 }
  }

  /// The buffer that the places refer to. The texts in it are UTF-8 without JSON escapes.
  public let bytes: [UInt8]
  /// The place of `Decision.decision`.
  public var id = Place.absent
  /// The place of `Decision.event`.
  public var event = Place.absent
  /// The number of elements of `Decision.events`.
  public var eventCount = 0
  /// The place of the elements of `Decision.events`, in the form that `eventsAreFramed` says.
  var events = Place.absent
  /// Whether each element follows its length in four bytes, little endian. Otherwise the elements are JSON strings with commas
  /// between them.
  var eventsAreFramed = false
  /// The place of `Decision.device`.
  public var device = Place.absent
  /// The place of `Decision.instance`.
  public var instance = Place.absent
  /// The place of `Decision.kind`.
  public var kind = Place.absent
  /// `Decision.surface`.
  public var surface = Surface.widget
  /// `Decision.verdict`.
  public var verdict = Verdict.emit
  /// `Decision.reason`.
  public var reason = Reason.emitted
  /// `Decision.final`.
  public var final = false
  /// `Decision.at`.
  public var at = Timestamp(microseconds: 0)
  /// `Decision.relevance`.
  public var relevance = 0.0
  /// `Decision.wrong`.
  public var wrong = 0.0
  /// `Decision.looks`.
  public var looks = 0.0
  /// `Decision.value`.
  public var value = 0.0
  /// `Decision.price`.
  public var price = 0.0
  /// `Decision.tokensLeft`.
  public var tokensLeft = Decision.TokensLeft()
  /// `Decision.until`.
  public var until: Timestamp?
  /// The place of `Decision.command`.
  public var command = Place.absent
  /// `Decision.objective`.
  public var objective: ObjectiveResult?
  /// The place of the version of `Decision.policy`.
  public var policyVersion = Place.absent
  /// The place of the hash of `Decision.policy`.
  public var policyHash = Place.absent
  /// The place of `Decision.traceparent`.
  public var traceparent = Place.absent

  /// Creates a line whose members are all absent or zero.
  /// - Parameter bytes: The buffer that places will refer to.
  init(in bytes: [UInt8]) { self.bytes = bytes }

  /// Creates a line from a decision, with a buffer of its own.
  /// - Parameter decision: Any decision, whose texts together have less than 4 GiB.
  public init(_ decision: Decision) {
    var buffer: [UInt8] = []
    func place(_ text: String?) -> Place {
      guard let text else { return .absent }
      let start = buffer.count
      buffer.append(contentsOf: text.utf8)
      return Place(start, buffer.count)
    }
    let id = place(decision.decision.text)
    let event = place(decision.event.text)
    let start = buffer.count
    for name in decision.events {
      for shift in stride(from: 0, to: 32, by: 8) {
        buffer.append(UInt8(truncatingIfNeeded: name.utf8.count >> shift))
      }
      _ = place(name.text)
    }
    let events = Place(start, buffer.count)
    let (device, instance, kind) = (
      place(decision.device.text), place(decision.instance.text), place(decision.kind.text)
    )
    let (command, traceparent) = (place(decision.command.text), place(decision.traceparent))
    let (version, hash) = (place(decision.policy.version.text), place(decision.policy.hash.text))
    self.init(in: buffer)
    (self.id, self.event, self.events, eventCount) = (id, event, events, decision.events.count)
    eventsAreFramed = true
    (self.device, self.instance, self.kind) = (device, instance, kind)
    (surface, verdict, reason, final) = (decision.surface, decision.verdict, decision.reason, decision.final)
    (at, until, tokensLeft) = (decision.at, decision.until, decision.tokensLeft)
    (relevance, wrong, looks) = (decision.relevance, decision.wrong, decision.looks)
    (value, price, objective) = (decision.value, decision.price, decision.objective)
    (self.command, self.traceparent, policyVersion, policyHash) = (command, traceparent, version, hash)
  }
}

extension DecisionLine {
  /// The full decision. Building it copies every text.
  public var decision: Decision {
    var events: [Identifier] = []
    events.reserveCapacity(min(eventCount, 64))
    forEachEvent { events.append(identifier($0)) }
    return Decision(
      decision: identifier(id), event: identifier(event), events: events, device: identifier(device),
      instance: identifier(instance), kind: identifier(kind), surface: surface, verdict: verdict, reason: reason,
      final: final, at: at, relevance: relevance, wrong: wrong, looks: looks, value: value, price: price,
      tokensLeft: tokensLeft, until: until, command: command.isPresent ? identifier(command) : nil,
      objective: objective,
      policy: PolicyReference(version: identifier(policyVersion), hash: identifier(policyHash)),
      traceparent: traceparent.isPresent ? identifier(traceparent).text : nil)
  }

  /// Copies the text at a place.
  public func identifier(_ place: Place) -> Identifier { Identifier(decoding: bytes[place.range]) }

  /// Whether the texts at two places of two lines have the same bytes. Absent texts are equal to each other only.
  public func text(at place: Place, equals other: Place, of line: DecisionLine) -> Bool {
    guard place.isPresent == other.isPresent, place.count == other.count else { return false }
    return shared(place, other, of: line) == place.count
  }

  /// Returns the number of first bytes that the texts at two places of two lines share.
  public func shared(_ place: Place, _ other: Place, of line: DecisionLine) -> Int {
    let (a, b) = (bytes.span.extracting(place.range), line.bytes.span.extracting(other.range))
    let count = min(a.count, b.count)
    // Both spans outlive the closures, and every load lies in the first `count` bytes of both.
    return unsafe a.withUnsafeBytes { a in
      unsafe b.withUnsafeBytes { b in
        var at = 0
        while at + 8 <= count {
          let (one, two) = unsafe (
            a.loadUnaligned(fromByteOffset: at, as: UInt64.self), b.loadUnaligned(fromByteOffset: at, as: UInt64.self)
          )
          if one != two { return at + (one ^ two).littleEndian.trailingZeroBitCount / 8 }
          at += 8
        }
        while at < count, unsafe a[at] == b[at] { at += 1 }
        return at
      }
    }
  }

  /// Whether `Decision.events` holds `Decision.event` and nothing else.
  public var hasOnlyItsEvent: Bool {
    guard eventCount == 1 else { return false }
    let (start, end) = (Int(events.start), Int(events.end))
    let element = eventsAreFramed ? Place(start + 4, end) : Place(start + 1, end - 1)
    return text(at: element, equals: event, of: self)
  }

  /// Passes the place of each element of `Decision.events` to `body`, in order.
  /// - Throws: The error of `body`.
  public func forEachEvent<Failure: Error>(_ body: (Place) throws(Failure) -> Void) throws(Failure) {
    var at = Int(events.start)
    for _ in 0..<eventCount {
      let start: Int
      let end: Int
      if eventsAreFramed {
        start = at + 4
        end = start + (0..<4).reduce(0) { $0 | Int(bytes[at + $1]) << ($1 * 8) }
        at = end
      } else {
        // The opening quote, the text, the closing quote and a comma.
        start = at + 1
        end = bytes[start...].firstIndex(of: UInt8(ascii: "\"")) ?? start
        at = end + 2
      }
      try body(Place(start, end))
    }
  }
}
