extension Signal: FieldCoded {
  /// An empty value that a decoder fills in.
  public static var blank: Signal {
    Signal(device: "", id: "", time: Timestamp(microseconds: 0), kind: .appForegrounded)
  }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&device, "a device")
    try coder.string(&id, "a signal id")
    try coder.timestamp(&time, "a signal time")
    try kind.fields(&coder)
  }
}

extension Signal.Kind: FieldCoded {
  private enum Tag: UInt8, CaseIterable {
    case appForegrounded = 1
    case appBackgrounded, widgetFetched, widgetViewed, activityStarted, activityEnded, activityDismissed
    case tokenRejected, deliveryCompleted
  }

  private var tag: Tag {
    switch self {
    case .appForegrounded: .appForegrounded
    case .appBackgrounded: .appBackgrounded
    case .widgetFetched: .widgetFetched
    case .widgetViewed: .widgetViewed
    case .activityStarted: .activityStarted
    case .activityEnded: .activityEnded
    case .activityDismissed: .activityDismissed
    case .tokenRejected: .tokenRejected
    case .deliveryCompleted: .deliveryCompleted
    }
  }

  /// An empty value that a decoder fills in.
  public static var blank: Signal.Kind { .appForegrounded }

  /// The instance that the signal names; nil if it names none.
  private var instance: Identifier? {
    switch self {
    case .widgetFetched(let instance), .widgetViewed(let instance): instance
    case .activityStarted(let instance), .activityEnded(let instance), .activityDismissed(let instance): instance
    case .appForegrounded, .appBackgrounded, .tokenRejected, .deliveryCompleted: nil
    }
  }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var tag = tag
    try coder.tag(&tag, "a signal tag")
    switch tag {
    case .appForegrounded: self = .appForegrounded
    case .appBackgrounded: self = .appBackgrounded
    case .widgetFetched, .widgetViewed:
      var instance = instance
      try coder.string(&instance, "an instance")
      self = tag == .widgetFetched ? .widgetFetched(instance: instance) : .widgetViewed(instance: instance)
    case .activityStarted: self = .activityStarted(instance: try Self.instance(instance, &coder))
    case .activityEnded: self = .activityEnded(instance: try Self.instance(instance, &coder))
    case .activityDismissed: self = .activityDismissed(instance: try Self.instance(instance, &coder))
    case .tokenRejected:
      var token = if case .tokenRejected(let token) = self { token } else { "" }
      try coder.string(&token, "a token")
      self = .tokenRejected(token: token)
    case .deliveryCompleted:
      var (command, outcome) = ("" as Identifier, Signal.DeliveryOutcome.accepted)
      if case .deliveryCompleted(let id, let how) = self { (command, outcome) = (id, how) }
      try coder.string(&command, "a command id")
      try coder.choice(&outcome, "a delivery outcome")
      self = .deliveryCompleted(command: command, outcome: outcome)
    }
  }

  private static func instance<Coder: FieldCoder>(
    _ instance: Identifier?, _ coder: inout Coder
  ) throws(Coder.Failure) -> Identifier {
    var instance = instance ?? ""
    try coder.string(&instance, "an instance")
    return instance
  }
}
