import Domain
import GRDB

/// The columns of a command that nothing searches, as one blob. Strings that repeat are numbers of `text`.
enum CommandBody {
  static func encode(_ command: Command, names: NameWriter) throws -> [UInt8] {
    var out = BinaryWriter()
    // Format 2 has the subject; whatever starts nothing can be read by releases that know format 1 only.
    out.varint(command.subject == nil ? 1 : 2)
    out.zigzag(try names.text(command.app))
    out.zigzag(command.environment.code)
    out.zigzag(command.expires.microseconds &- command.at.microseconds)
    out.zigzag(try names.policy(command.policy))
    out.zigzag(try command.traceparent.map { try names.text($0) } ?? 0)
    out.count(command.serves.count)
    for served in command.serves {
      let kind = try names.kind(served.kind)
      out.zigzag(try names.instance(served.instance, kind: kind, surface: command.surface))
      out.zigzag(served.reason.code)
      out.count(served.events.count)
      for event in served.events { out.zigzag(try names.event(event)) }
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
      out.zigzag(try names.text(token))
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
    if let subject = command.subject { out.zigzag(try names.text(subject)) }
    return out.bytes
  }

  /// 0: the device, 1: the app, 2…: a served instance, -1: a text of its own.
  private static func encode(
    owner: String, of command: Command, names: NameWriter, to out: inout BinaryWriter
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

  /// Puts a command together again; its id, device, surface and time stand in columns of their own.
  static func decode(
    _ bytes: [UInt8], id: String, device: String, surface: Surface, at: Timestamp, names: NameReader
  ) throws -> Command {
    var from = BinaryReader(bytes)
    let format = try from.varint()
    guard (1...2).contains(format) else { throw StoredValueError(reason: "holds a command of an unknown format") }
    let app = try names.text(from.zigzag())
    let environment = try Registration.Environment(code: from.zigzag())
    let expires = Timestamp(microseconds: at.microseconds &+ (try from.zigzag()))
    let policy = try names.policy(from.zigzag())
    let trace = try from.zigzag()
    let serves = try list(&from) { from in
      let instance = try names.instance(from.zigzag())
      let reason = try Reason(code: from.zigzag())
      let events = try list(&from) { try names.event($0.zigzag()) }
      return Command.Served(instance: instance.id, kind: instance.kind, events: events, reason: reason)
    }
    let charged = try list(&from) { from in
      let ledger = try Command.Ledger(code: from.zigzag())
      let left = Int(try from.zigzag())
      let owner: String
      switch try from.zigzag() {
      case 0: owner = device
      case 1: owner = app
      case let index where index >= 2 && index - 2 < serves.count: owner = serves[Int(index) - 2].instance
      default: owner = try names.text(from.zigzag())
      }
      return Command.Charge(ledger: ledger, owner: owner, left: left)
    }
    let isToken = try from.zigzag() == 0
    let address = try names.text(from.zigzag())
    let headers = try list(&from) { from in
      Command.Header(name: try names.text(from.zigzag()), value: try from.string())
    }
    let payload = try from.string()
    let subject = format == 1 ? nil : try names.text(from.zigzag())
    return Command(
      command: id, device: device, app: app, environment: environment, surface: surface, serves: serves,
      charged: charged,
      apns: Command.APNs(address: isToken ? .token(address) : .channel(address), headers: headers, payload: payload),
      at: at, expires: expires, policy: policy, traceparent: trace == 0 ? nil : try names.text(trace),
      subject: subject)
  }

  private static func list<T>(_ from: inout BinaryReader, _ element: (inout BinaryReader) throws -> T) throws -> [T] {
    let count = try from.count()
    var list: [T] = []
    list.reserveCapacity(count)
    for _ in 0..<count { list.append(try element(&from)) }
    return list
  }
}
