import Domain
import GRDB

/// The columns of a command that nothing searches, as one blob. Strings that repeat are numbers of `text`.
enum CommandBody {
  static func encode(_ command: Command, names: NameWriter) throws -> [UInt8] {
    var out = ByteWriter()
    // Format 2 has the subject; whatever starts nothing can be read by releases that know format 1 only.
    out.unsigned(command.subject == nil ? 1 : 2)
    out.signed(try names.text(command.app))
    out.signed(command.environment.code)
    out.signed(command.expires.microseconds &- command.at.microseconds)
    out.signed(try names.policy(command.policy))
    out.signed(try command.traceparent.map { try names.text($0) } ?? 0)
    out.unsigned(UInt64(command.serves.count))
    for served in command.serves {
      let kind = try names.kind(served.kind)
      out.signed(try names.instance(served.instance, kind: kind, surface: command.surface))
      out.signed(served.reason.code)
      out.unsigned(UInt64(served.events.count))
      for event in served.events { out.signed(try names.event(event)) }
    }
    out.unsigned(UInt64(command.charged.count))
    for charge in command.charged {
      out.signed(charge.ledger.code)
      out.signed(Int64(charge.left))
      try encode(owner: charge.owner, of: command, names: names, to: &out)
    }
    switch command.apns.address {
    case .token(let token):
      out.signed(0)
      out.signed(try names.text(token))
    case .channel(let channel):
      out.signed(1)
      out.signed(try names.text(channel))
    }
    out.unsigned(UInt64(command.apns.headers.count))
    for header in command.apns.headers {
      out.signed(try names.text(header.name))
      out.text(header.value)
    }
    out.text(command.apns.payload)
    if let subject = command.subject { out.signed(try names.text(subject)) }
    return out.bytes
  }

  /// 0: the device, 1: the app, 2…: a served instance, -1: a text of its own.
  private static func encode(
    owner: String, of command: Command, names: NameWriter, to out: inout ByteWriter
  ) throws {
    if owner == command.device {
      out.signed(0)
    } else if owner == command.app {
      out.signed(1)
    } else if let index = command.serves.firstIndex(where: { $0.instance == owner }) {
      out.signed(Int64(index) + 2)
    } else {
      out.signed(-1)
      out.signed(try names.text(owner))
    }
  }

  /// Puts a command together again; its id, device, surface and time stand in columns of their own.
  static func decode(
    _ bytes: [UInt8], id: String, device: String, surface: Surface, at: Timestamp, names: NameReader
  ) throws -> Command {
    var from = ByteReader(bytes)
    let format = try from.unsigned()
    guard (1...2).contains(format) else { throw StoredValueError(reason: "holds a command of an unknown format") }
    let app = try names.text(from.signed())
    let environment = try Registration.Environment(code: from.signed())
    let expires = Timestamp(microseconds: at.microseconds &+ (try from.signed()))
    let policy = try names.policy(from.signed())
    let trace = try from.signed()
    let serves = try list(&from) { from in
      let instance = try names.instance(from.signed())
      let reason = try Reason(code: from.signed())
      let events = try list(&from) { try names.event($0.signed()) }
      return Command.Served(instance: instance.id, kind: instance.kind, events: events, reason: reason)
    }
    let charged = try list(&from) { from in
      let ledger = try Command.Ledger(code: from.signed())
      let left = Int(try from.signed())
      let owner: String
      switch try from.signed() {
      case 0: owner = device
      case 1: owner = app
      case let index where index >= 2 && index - 2 < serves.count: owner = serves[Int(index) - 2].instance
      default: owner = try names.text(from.signed())
      }
      return Command.Charge(ledger: ledger, owner: owner, left: left)
    }
    let isToken = try from.signed() == 0
    let address = try names.text(from.signed())
    let headers = try list(&from) { from in
      Command.Header(name: try names.text(from.signed()), value: try from.text())
    }
    let payload = try from.text()
    let subject = format == 1 ? nil : try names.text(from.signed())
    return Command(
      command: id, device: device, app: app, environment: environment, surface: surface, serves: serves,
      charged: charged,
      apns: Command.APNs(address: isToken ? .token(address) : .channel(address), headers: headers, payload: payload),
      at: at, expires: expires, policy: policy, traceparent: trace == 0 ? nil : try names.text(trace),
      subject: subject)
  }

  private static func list<T>(_ from: inout ByteReader, _ element: (inout ByteReader) throws -> T) throws -> [T] {
    let count = try from.count()
    var list: [T] = []
    list.reserveCapacity(count)
    for _ in 0..<count { list.append(try element(&from)) }
    return list
  }
}
