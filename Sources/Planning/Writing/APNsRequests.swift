import Domain

/// The requests that APNs wants, by push type. Source: Apple's pages on widget pushes, background pushes and on sending
/// requests to APNs.
enum APNsRequests {
  /// Reloads every push-enabled widget of the app. Apple's sample sets neither priority nor expiration, and reports on
  /// setting them conflict, so both are left out.
  static func widgets(token: String, app: String, command: String) -> Command.APNs {
    Command.APNs(
      address: .token(token),
      headers: [
        Command.Header(name: "apns-id", value: requestID(command)),
        Command.Header(name: "apns-push-type", value: "widgets"),
        Command.Header(name: "apns-topic", value: widgetsTopic(app: app)),
      ], payload: String(decoding: widgetsPayload, as: UTF8.self))
  }

  /// Wakes the app and names the kinds to reload. Priority 10 is an error for this type.
  static func background(token: String, app: String, command: String, kinds: [String]) -> Command.APNs {
    Command.APNs(
      address: .token(token),
      headers: [
        Command.Header(name: "apns-id", value: requestID(command)),
        Command.Header(name: "apns-priority", value: "5"),
        Command.Header(name: "apns-push-type", value: "background"),
        Command.Header(name: "apns-topic", value: app),
      ],
      payload: #"{"aps":{"content-available":1},"rouse":{"kinds":["#
        + kinds.map { "\"" + escaped($0) + "\"" }.joined(separator: ",") + "]}}")
  }

  /// Reloads the one control that the token names. Priority and expiration as in Apple's sample.
  static func control(token: String, app: String, command: String) -> Command.APNs {
    Command.APNs(
      address: .token(token),
      headers: [
        Command.Header(name: "apns-expiration", value: "0"),
        Command.Header(name: "apns-id", value: requestID(command)),
        Command.Header(name: "apns-priority", value: "10"),
        Command.Header(name: "apns-push-type", value: "controls"),
        Command.Header(name: "apns-topic", value: app + ".push-type.controls"),
      ], payload: #"{"aps":{"content-changed":true}}"#)
  }

  /// A Live Activity push to a token, or a broadcast to a channel, which names no topic. A channel that stores nothing
  /// refuses any expiration but 0.
  static func activity(
    address: Command.APNs.Address, app: String, command: String, priority: UInt8, stores: Bool, expires: Int64,
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
      headers.append(Command.Header(name: "apns-topic", value: app + ".push-type.liveactivity"))
    case .channel(let channel):
      headers.insert(Command.Header(name: "apns-channel-id", value: channel), at: 0)
      headers.insert(Command.Header(name: "apns-expiration", value: stores ? "\(expires)" : "0"), at: 1)
      headers[2] = Command.Header(name: "apns-request-id", value: requestID(command))
      headers.sort { $0.name < $1.name }
    }
    return Command.APNs(address: address, headers: headers, payload: payload)
  }

  static func widgetsTopic(app: String) -> String { app + ".push-type.widgets" }

  static let widgetsPayload = Array(#"{"aps":{"content-changed":true}}"#.utf8)

  /// A UUID made from two hashes of a command's id (version 8: custom), so that a repeated send carries the same `apns-id`.
  struct RequestID {
    var high: UInt64
    var low: UInt64

    static let textCount = 36
  }

  static func requestID(_ command: String) -> String {
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

  /// Appends it in the canonical form, in lower case. There must be room for `RequestID.textCount` bytes.
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
