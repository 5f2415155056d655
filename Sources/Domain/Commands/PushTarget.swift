import JSON

/// The receiver of a push to a control or a Live Activity.
public enum PushTarget: Equatable, Sendable {
  /// A push token, in hexadecimal digits as APNs wants it; in an audit store its hash.
  case token(String)
  /// The id of a broadcast channel.
  case channel(Identifier)
}

extension PushTarget {
  /// Writes the member of an object that names the target.
  func write(to writer: inout JSONWriter) {
    switch self {
    case .token(let token): writer.member("token", token)
    case .channel(let channel): writer.member("channel", channel)
    }
  }

  /// Reads the target from the members of an object.
  /// - Parameters:
  ///   - node: the object.
  ///   - token: reads the token.
  /// - Throws: `DomainError` if the object has neither a token nor a channel, both, or a wrong one.
  init(_ node: JSONNode, token: (JSONNode) throws(DomainError) -> String) throws(DomainError) {
    switch (node.optional("token"), node.optional("channel")) {
    case (let member?, nil): self = .token(try token(member))
    case (nil, let channel?): self = .channel(try channel.identifier(bytesMax: DomainBounds.tokenBytesMax))
    case (nil, nil): throw DomainError(node.missing("token", expected: "either a token or a channel"))
    case (_?, let channel?): throw DomainError(channel.wrongValue("either a token or a channel, not both"))
    }
  }
}

extension PushTarget: FieldCoded {
  /// An empty value that a decoder fills in.
  public static var blank: PushTarget { .token("") }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var (isChannel, text): (Bool, String) =
      switch self {
      case .token(let token): (false, token)
      case .channel(let channel): (true, channel.text)
      }
    try coder.bool(&isChannel, "an address tag")
    try coder.string(&text, "an activity address")
    if Coder.reads { self = isChannel ? .channel(Identifier(text)) : .token(text) }
  }
}
