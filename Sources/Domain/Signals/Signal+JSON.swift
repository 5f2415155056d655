public import JSON

extension Signal {
  /// Writes the signal as a CloudEvent in structured mode.
  /// - Parameters:
  ///   - writer: the writer.
  ///   - source: the CloudEvents `source`, which a `Signal` does not keep.
  ///   - logTime: the time of the signal in a log, as the extension `rouselogtime`; nil leaves it out.
  public func encode(to writer: inout JSONWriter, source: String, logTime: Timestamp? = nil) {
    writer.beginObject()
    writer.key("specversion")
    writer.string("1.0" as StaticString)
    writer.member("id", id)
    writer.member("source", source)
    writer.member("type", kind.name.rawValue)
    writer.member("subject", device)
    writer.timestamp("time", time)
    LogTime.write(logTime, to: &writer)
    writer.key("data")
    writer.beginObject()
    writer.member("device", device)
    var kind = kind
    kind.members(&writer)
    writer.endObject()
    writer.endObject()
  }
}

extension Signal.Kind: JSONFields {
  /// Encodes or decodes the members of `data`, besides the device.
  /// - Throws: `DomainError` if a member that is read is missing or wrong.
  package mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    switch self {
    case .appForegrounded, .appBackgrounded: break
    case .widgetFetched(var instance, var cause):
      try coder.text("instance", &instance)
      try coder.choice("cause", &cause)
      self = .widgetFetched(instance: instance, cause: cause)
    case .widgetViewed(var instance):
      try coder.text("instance", &instance)
      self = .widgetViewed(instance: instance)
    case .activityStarted(var activity):
      try activity.members(&coder)
      self = .activityStarted(activity)
    case .activityEnded(var activity):
      try activity.members(&coder)
      self = .activityEnded(activity)
    case .activityDismissed(var activity):
      try activity.members(&coder)
      self = .activityDismissed(activity)
    case .tokenRejected(var token):
      try coder.text("token", &token, bytesMax: DomainBounds.tokenBytesMax)
      self = .tokenRejected(token: token)
    case .deliveryCompleted(var command, var outcome, var answer):
      try coder.text("command", &command)
      try coder.choice("outcome", &outcome)
      try coder.count("status", &answer.status)
      try coder.text("reason", &answer.reason)
      self = .deliveryCompleted(command: command, outcome: outcome, answer: answer)
    }
  }

  /// Whether signals of this kind need no member of `data` besides the device.
  var isComplete: Bool {
    switch self {
    case .appForegrounded, .appBackgrounded, .widgetFetched, .widgetViewed: true
    case .activityStarted, .activityEnded, .activityDismissed, .tokenRejected, .deliveryCompleted: false
    }
  }
}

extension Signal.ReportedActivity {
  fileprivate mutating func members<Coder: JSONFieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("instance", &instance)
    try coder.text("kind", &kind)
    try coder.text("subject", &subject)
  }
}
