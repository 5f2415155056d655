extension Signal {
  func encode(into writer: inout BinaryWriter) {
    writer.string(device)
    writer.string(id)
    writer.timestamp(time)
    writer.uint8(kind.tag)
    switch kind {
    case .appForegrounded, .appBackgrounded: break
    case .widgetFetched(let instance), .widgetViewed(let instance): writer.optionalString(instance)
    case .activityStarted(let instance), .activityEnded(let instance), .activityDismissed(let instance):
      writer.string(instance)
    case .tokenRejected(let token): writer.string(token)
    case .deliveryCompleted(let command, let outcome):
      writer.string(command)
      writer.string(outcome.rawValue)
    }
  }

  init(from reader: inout BinaryReader) throws(BinaryError) {
    self.init(
      device: try reader.string("a device"), id: try reader.string("a signal id"),
      time: try reader.timestamp("a signal time"), kind: try Kind(from: &reader))
  }
}

extension Signal.Kind {
  fileprivate var tag: UInt8 {
    switch self {
    case .appForegrounded: 1
    case .appBackgrounded: 2
    case .widgetFetched: 3
    case .widgetViewed: 4
    case .activityStarted: 5
    case .activityEnded: 6
    case .activityDismissed: 7
    case .tokenRejected: 8
    case .deliveryCompleted: 9
    }
  }

  fileprivate init(from reader: inout BinaryReader) throws(BinaryError) {
    switch try reader.uint8("a signal tag") {
    case 1: self = .appForegrounded
    case 2: self = .appBackgrounded
    case 3: self = .widgetFetched(instance: try reader.optionalString("an instance"))
    case 4: self = .widgetViewed(instance: try reader.optionalString("an instance"))
    case 5: self = .activityStarted(instance: try reader.string("an instance"))
    case 6: self = .activityEnded(instance: try reader.string("an instance"))
    case 7: self = .activityDismissed(instance: try reader.string("an instance"))
    case 8: self = .tokenRejected(token: try reader.string("a token"))
    case 9:
      self = .deliveryCompleted(
        command: try reader.string("a command id"), outcome: try reader.choice("a delivery outcome"))
    default: throw .corrupt(offset: reader.offset - 1, what: "a signal tag from 1 to 9")
    }
  }
}
