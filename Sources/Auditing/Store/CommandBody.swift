import Domain
import GRDB

/// The fields of a command that queries never search, as one blob. Repeated strings are stored as numbers of the table `text`.
enum CommandBody {
  /// The first number of each body.
  private static let format: UInt64 = 4

  /// Returns the body of a command.
  /// - Parameter names: assigns numbers to the strings.
  static func encode(_ command: Command, names: NameWriter) throws -> [UInt8] {
    var out = BinaryWriter()
    out.varint(format)
    out.zigzag(try names.text(command.app))
    out.zigzag(command.environment.code)
    out.zigzag(command.expires.microseconds &- command.at.microseconds)
    out.zigzag(try names.policy(command.policy))
    out.zigzag(try command.traceparent.map { try names.text(Identifier($0)) } ?? 0)
    out.count(command.serves.count)
    for served in command.serves {
      let kind = try names.kind(served.kind)
      out.zigzag(try names.instance(served.instance, kind: kind, surface: command.surface))
      out.zigzag(served.reason.code)
      out.count(served.events.count)
      for event in served.events { out.zigzag(try names.event(event)) }
      out.zigzag(Int64(served.eventsLeftOut))
    }
    out.count(command.charged.count)
    for charge in command.charged {
      out.zigzag(charge.ledger.code)
      out.zigzag(Int64(charge.left))
      try encode(owner: charge.owner, of: command, names: names, to: &out)
    }
    switch command.apns.address {
    case .token(let token):
      out.zigzag(0)
      out.zigzag(try names.text(Identifier(token)))
    case .channel(let channel):
      out.zigzag(1)
      out.zigzag(try names.text(channel))
    }
    out.count(command.apns.headers.count)
    for header in command.apns.headers {
      out.zigzag(try names.text(header.name))
      out.string(header.value)
    }
    out.string(command.apns.payload)
    out.zigzag(try command.subject.map { try names.text($0) } ?? 0)
    return out.bytes
  }

  /// Writes the owner of a ledger: 0 for the device, 1 for the app, 2 and more for a served instance, -1 before a text.
  private static func encode(
    owner: Identifier, of command: Command, names: NameWriter, to out: inout BinaryWriter
  ) throws {
    if owner == command.device {
      out.zigzag(0)
    } else if owner == command.app {
      out.zigzag(1)
    } else if let index = command.serves.firstIndex(where: { $0.instance == owner }) {
      out.zigzag(Int64(index) + 2)
    } else {
      out.zigzag(-1)
      out.zigzag(try names.text(owner))
    }
  }

  /// Reads a body, and combines it with the fields in separate columns into a command.
  /// - Throws: `StoredValueError` or `BinaryError` for bytes that `encode` did not write.
  static func decode(
    _ bytes: [UInt8], id: Identifier, device: Identifier, surface: Surface, at: Timestamp, names: NameReader
  ) throws -> Command {
    var from = BinaryReader(bytes)
    guard try from.varint() == format else { throw StoredValueError(reason: "holds a command of an unknown format") }
    let app = try names.text(from.zigzag())
    let environment = try Registration.Environment(code: from.zigzag())
    let expires = Timestamp(microseconds: at.microseconds &+ (try from.zigzag()))
    let policy = try names.policy(from.zigzag())
    let trace = try from.zigzag()
    let serves = try list(&from) { from in try served(&from, names) }
    let charged = try list(&from) { from in try charge(&from, device: device, app: app, serves: serves, names) }
    let apns = try request(&from, names)
    let subject = try from.zigzag()
    try from.end()
    return Command(
      command: id, device: device, app: app, environment: environment, surface: surface, serves: serves,
      charged: charged, apns: apns, at: at, expires: expires, policy: policy,
      traceparent: trace == 0 ? nil : try names.text(trace).text, subject: subject == 0 ? nil : try names.text(subject))
  }

  private static func served(_ from: inout BinaryReader, _ names: NameReader) throws -> Command.Served {
    let instance = try names.instance(from.zigzag())
    let reason = try Reason(code: from.zigzag())
    let events = try list(&from) { try names.event($0.zigzag()) }
    return Command.Served(
      instance: instance.id, kind: instance.kind, events: events, eventsLeftOut: Int(try from.zigzag()), reason: reason)
  }

  private static func charge(
    _ from: inout BinaryReader, device: Identifier, app: Identifier, serves: [Command.Served], _ names: NameReader
  ) throws -> Command.Charge {
    let ledger = try Command.Ledger(code: from.zigzag())
    let left = Int(try from.zigzag())
    let owner: Identifier
    switch try from.zigzag() {
    case 0: owner = device
    case 1: owner = app
    case let index where index >= 2 && index - 2 < serves.count: owner = serves[Int(index) - 2].instance
    default: owner = try names.text(from.zigzag())
    }
    return Command.Charge(ledger: ledger, owner: owner, left: left)
  }

  private static func request(_ from: inout BinaryReader, _ names: NameReader) throws -> Command.APNs {
    let isToken = try from.zigzag() == 0
    let address = try names.text(from.zigzag())
    let headers = try list(&from) { from in
      Command.Header(name: try names.text(from.zigzag()), value: try from.string())
    }
    return Command.APNs(
      address: isToken ? .token(address.text) : .channel(address), headers: headers, payload: try from.string())
  }

  /// Reads a count and that many elements.
  private static func list<T>(_ from: inout BinaryReader, _ element: (inout BinaryReader) throws -> T) throws -> [T] {
    let count = try from.count()
    var list: [T] = []
    list.reserveCapacity(count)
    for _ in 0..<count { list.append(try element(&from)) }
    return list
  }
}
