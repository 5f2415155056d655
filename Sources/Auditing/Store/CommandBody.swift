import Domain

/// The fields of a command that queries never search, as one blob. The few names that repeat in many commands (kinds, policies,
/// headers) are numbers of words.
enum CommandBody {
  /// The version of the format, which is the first number of each body.
  private static let format: UInt64 = 5

  /// Returns the body of a command.
  /// - Parameters:
  ///   - command: The command.
  ///   - hasOddId: Whether the columns do not hold the id, because it is not one of a log record.
  ///   - words: Gives numbers to the words.
  static func encode(_ command: Command, hasOddId: Bool, words: WordWriter) throws -> [UInt8] {
    var coder = CommandBodyWriter(words: words)
    coder.out.varint(format)
    var command = command
    try fields(of: &command, hasOddId: hasOddId, &coder)
    return coder.out.bytes
  }

  /// Reads a body, and combines it with the fields in separate columns into a command.
  /// - Throws: `StoredValueError` or `BinaryError` for bytes that `encode` did not write.
  static func decode(_ row: CommandRow, words: WordReader) throws -> Command {
    var coder = CommandBodyReader(from: BinaryReader(row.body), words: words)
    guard try coder.from.varint() == format else {
      throw StoredValueError(reason: "holds a command of an unknown format")
    }
    var command = Command.blank
    command.surface = try Surface(code: row.surface)
    command.at = Timestamp(microseconds: row.at)
    try fields(of: &command, hasOddId: row.hasOddId, &coder)
    if !row.hasOddId { command.command = row.id.text(of: .command) }
    try coder.from.end()
    return command
  }

  /// Encodes or decodes each field, in the order of the body.
  private static func fields<Coder: CommandBodyCoder>(
    of command: inout Command, hasOddId: Bool, _ coder: inout Coder
  ) throws {
    if hasOddId { try coder.text(&command.command) }
    try coder.text(&command.device)
    try coder.text(&command.app)
    try coder.code(&command.environment)
    var life = command.expires.microseconds &- command.at.microseconds
    try coder.number(&life)
    command.expires = Timestamp(microseconds: command.at.microseconds &+ life)
    try coder.policy(&command.policy)
    var trace = command.traceparent.map { Identifier($0) }
    try coder.text(&trace)
    command.traceparent = trace?.text
    let device = command.device
    try coder.list(&command.serves, blank: .blank) { served, coder in
      try coder.text(&served.instance, behind: device)
      try coder.word(&served.kind)
      try coder.code(&served.reason)
      try coder.list(&served.events, blank: "") { event, coder in try coder.text(&event) }
      try coder.number(&served.eventsLeftOut)
    }
    let (app, serves) = (command.app, command.serves)
    try coder.list(&command.charged, blank: .blank) { charge, coder in
      try coder.code(&charge.ledger)
      try coder.number(&charge.left)
      try owner(&charge.owner, device: device, app: app, serves: serves, &coder)
    }
    try request(&command.apns, &coder)
    try coder.text(&command.subject)
  }

  /// Encodes or decodes the owner of a ledger: 0 for the device, 1 for the app, 2 and more for a served instance. For
  /// any other owner, −1 and a text.
  private static func owner<Coder: CommandBodyCoder>(
    _ owner: inout Identifier, device: Identifier, app: Identifier, serves: [Command.Served], _ coder: inout Coder
  ) throws {
    var place =
      owner == device ? 0 : owner == app ? 1 : serves.firstIndex { $0.instance == owner }.map { $0 + 2 } ?? -1
    try coder.number(&place)
    switch place {
    case 0: owner = device
    case 1: owner = app
    case 2..<(2 + serves.count): owner = serves[place - 2].instance
    case _: try coder.text(&owner)
    }
  }

  private static func request<Coder: CommandBodyCoder>(_ request: inout Command.APNs, _ coder: inout Coder) throws {
    var (tag, address): (Int, Identifier) =
      switch request.address {
      case .token(let token): (0, Identifier(token))
      case .channel(let channel): (1, channel)
      }
    try coder.number(&tag)
    try coder.text(&address)
    request.address = tag == 0 ? .token(address.text) : .channel(address)
    try coder.list(&request.headers, blank: Command.Header(name: "", value: "")) { header, coder in
      try coder.word(&header.name)
      try coder.string(&header.value)
    }
    try coder.string(&request.payload)
  }
}
