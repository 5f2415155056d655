import Domain

/// The requests to APNs for each push type. Source: Apple's pages on widget pushes, on background pushes, and on sending
/// notification requests to APNs.
enum APNsRequests {
  /// Returns a push that reloads every push-enabled widget of the app. Apple's sample sets neither priority nor expiration, and
  /// reports on setting them contradict each other, so the request has neither.
  static func widgets(token: String, app: Identifier, command: Identifier) -> Command.APNs {
    Command.APNs(
      address: .token(token),
      headers: [
        Command.Header(name: "apns-id", value: requestID(command)),
        Command.Header(name: "apns-push-type", value: "widgets"),
        Command.Header(name: "apns-topic", value: widgetsTopic(app: app)),
      ], payload: String(decoding: widgetsPayload, as: UTF8.self))
  }

  /// Returns a push that wakes the app and names the kinds to reload. APNs refuses priority 10 for this type.
  static func background(token: String, app: Identifier, command: Identifier, kinds: [Identifier]) -> Command.APNs {
    Command.APNs(
      address: .token(token),
      headers: [
        Command.Header(name: "apns-id", value: requestID(command)),
        Command.Header(name: "apns-priority", value: "5"),
        Command.Header(name: "apns-push-type", value: "background"),
        Command.Header(name: "apns-topic", value: app.text),
      ],
      payload: #"{"aps":{"content-available":1},"rouse":{"kinds":["#
        + kinds.map { "\"" + escaped($0.text) + "\"" }.joined(separator: ",") + "]}}")
  }

  /// Returns a push that reloads the control with this token. Priority and expiration are those of Apple's sample.
  static func control(token: String, app: Identifier, command: Identifier) -> Command.APNs {
    Command.APNs(
      address: .token(token),
      headers: [
        Command.Header(name: "apns-expiration", value: "0"),
        Command.Header(name: "apns-id", value: requestID(command)),
        Command.Header(name: "apns-priority", value: "10"),
        Command.Header(name: "apns-push-type", value: "controls"),
        Command.Header(name: "apns-topic", value: "\(app).push-type.controls"),
      ], payload: #"{"aps":{"content-changed":true}}"#)
  }

  /// Returns a Live Activity push to a token, or a broadcast to a channel, which has no topic.
  /// - Parameters:
  ///   - address: The token or the channel.
  ///   - app: The bundle id of the app.
  ///   - command: The id of the command.
  ///   - priority: The APNs priority, 5 or 10.
  ///   - stores: Whether the channel stores the newest message. A channel that stores nothing accepts only expiration 0.
  ///   - expires: The time until which APNs keeps the push, in Unix seconds.
  ///   - payload: The body.
  static func activity(
    address: PushTarget, app: Identifier, command: Identifier, priority: UInt8, stores: Bool, expires: Int64,
    payload: String
  ) -> Command.APNs {
    var headers = [
      Command.Header(name: "apns-id", value: requestID(command)),
      Command.Header(name: "apns-priority", value: "\(priority)"),
      Command.Header(name: "apns-push-type", value: "liveactivity"),
    ]
    switch address {
    case .token:
      headers.insert(Command.Header(name: "apns-expiration", value: "\(expires)"), at: 0)
      headers.append(Command.Header(name: "apns-topic", value: "\(app).push-type.liveactivity"))
    case .channel(let channel):
      headers.insert(Command.Header(name: "apns-channel-id", value: channel.text), at: 0)
      headers.insert(Command.Header(name: "apns-expiration", value: stores ? "\(expires)" : "0"), at: 1)
      headers[2] = Command.Header(name: "apns-request-id", value: requestID(command))
      headers.sort { $0.name < $1.name }
    }
    return Command.APNs(address: address, headers: headers, payload: payload)
  }

  /// Returns the topic of widget pushes to an app.
  static func widgetsTopic(app: Identifier) -> String { "\(app).push-type.widgets" }

  /// The body of every widget push.
  static let widgetsPayload = Array(#"{"aps":{"content-changed":true}}"#.utf8)

  /// A UUID of version 8 (custom) that is made from two hashes of a command's id, so that a repeated send has the same
  /// `apns-id`.
  struct RequestID {
    var high: UInt64
    var low: UInt64

    /// The length of the canonical form, in bytes.
    static let textCount = 36
  }

  /// Returns the request id of a command as text.
  static func requestID(_ command: Identifier) -> String {
    var low = Hash64()
    low.add(command)
    var high = Hash64()
    high.add("apns-id")
    high.add(command)
    let text = [UInt8](capacity: RequestID.textCount) { room in
      append(requestID: RequestID(high: high.value, low: low.value), to: &room)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends a request id in canonical form, in lower case. There must be room for `RequestID.textCount` bytes.
  static func append(requestID: RequestID, to text: inout OutputSpan<UInt8>) {
    let a = requestID.high & ~0xf000 | 0x8000
    let b = requestID.low & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
    for place in 0..<32 {
      if place == 8 || place == 12 || place == 16 || place == 20 { text.append(UInt8(ascii: "-")) }
      let digit = UInt8(truncatingIfNeeded: (place < 16 ? a : b) >> (60 - 4 * UInt64(place & 15)) & 15)
      text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
