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
  /// An empty value that a decoder fills in.
  public static var blank: Signal.Kind { .appForegrounded }

  /// Encodes or decodes each field, in the order of the record.
  /// - Throws: `BinaryError` if the bytes that are read are damaged.
  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var name = name
    try coder.code(&name, "a signal type")
    if Coder.reads { self = .blank(of: name) }
    switch self {
    case .appForegrounded, .appBackgrounded: break
    case .widgetFetched(var instance, let cause):
      var word = cause?.rawValue
      try coder.string(&instance, "an instance")
      try coder.string(&word, "the cause of a fetch")
      self = .widgetFetched(instance: instance, cause: word.flatMap { Signal.FetchCause(rawValue: $0) })
    case .widgetViewed(var instance):
      try coder.string(&instance, "an instance")
      self = .widgetViewed(instance: instance)
    case .activityStarted(var activity):
      try activity.fields(&coder)
      self = .activityStarted(activity)
    case .activityEnded(var activity):
      try activity.fields(&coder)
      self = .activityEnded(activity)
    case .activityDismissed(var activity):
      try activity.fields(&coder)
      self = .activityDismissed(activity)
    case .tokenRejected(var token):
      try coder.string(&token, "a token")
      self = .tokenRejected(token: token)
    case .deliveryCompleted(var command, var outcome, var answer):
      var status = answer.status ?? 0
      try coder.string(&command, "a command id")
      try coder.choice(&outcome, "a delivery outcome")
      try coder.varint(&status, "a status")
      try coder.string(&answer.reason, "a reason")
      answer.status = status == 0 ? nil : status
      self = .deliveryCompleted(command: command, outcome: outcome, answer: answer)
    }
  }
}

extension Signal.ReportedActivity {
  fileprivate mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.string(&instance, "an instance")
    try coder.string(&kind, "a kind")
    try coder.string(&subject, "a subject")
  }
}
