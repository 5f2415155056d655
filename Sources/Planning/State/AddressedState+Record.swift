import Domain

extension AddressedState {
  /// The first byte of the record: the flags, and a bit for each instant that is present.
  struct RecordBits: OptionSet {
    var rawValue: UInt8
    static let isChannel = RecordBits(rawValue: 1)
    static let tokenDead = RecordBits(rawValue: 2)
    static let frequentPushes = RecordBits(rawValue: 4)
    static let ended = RecordBits(rawValue: 8)
    static let tat = RecordBits(rawValue: 16)
    static let timestamp = RecordBits(rawValue: 32)
    static let startedAt = RecordBits(rawValue: 64)
    static let lastEventAt = RecordBits(rawValue: 128)
  }

  /// Writes the state as part of its instance's record.
  /// - Parameters:
  ///   - base: The instant to which the instants of the state are relative, in µs.
  ///   - writer: The record.
  func write(since base: Int64, to writer: inout BinaryWriter) {
    var (noted, state, noter) = (self, self, PartNoter())
    var parts: RecordBits = []
    noted.numbers(&parts, since: base, &noter)
    var address = TokenPair(widgets: token, background: nil).bytes
    state.fields(&parts, address: &address, since: base, &writer)
  }

  /// Reads what `write` wrote.
  /// - Parameters:
  ///   - base: The `base` that `write` was given.
  ///   - reader: The record.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  init(since base: Int64, from reader: inout BinaryReader) throws(BinaryError) {
    var parts: RecordBits = []
    var address: [UInt8] = []
    try fields(&parts, address: &address, since: base, &reader)
    guard TokenPair.isWellFormed(address.span) else { throw .corrupt(offset: reader.offset, what: "a token") }
    token = TokenPair(bytes: address).widgets ?? ""
    // Each push adds a second to it at least, and it is taken as an instant in µs.
    guard abs(timestamp) <= .max / 2_000_000 else { throw .corrupt(offset: reader.offset, what: "a timestamp") }
  }

  private mutating func fields<Coder: FieldCoder & StateCoder>(
    _ parts: inout RecordBits, address: inout [UInt8], since base: Int64, _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.uint8(&parts.rawValue, "flags")
    try coder.blob(&address, "a token")
    try numbers(&parts, since: base, &coder)
    var hasContent = !content.isNone
    try coder.bool(&hasContent, "whether a push has told of a subject")
    if hasContent {
      try coder.hash(&content, "a hash")
      try told.fields(since: base, &coder)
    }
    try coder.bool(&isMirror, "whether it is a mirror")
    var isOwed = owedAt != .distantFuture
    try coder.bool(&isOwed, "whether a push is owed")
    if isOwed {
      try coder.instant(&owedAt, since: base, "an instant")
      var isAlert = owesAlert
      try coder.bool(&isAlert, "whether an alert is owed")
      if Coder.reads, isAlert { owe(alertAt: owedAt) }
    }
    try SentPush.fields(&unanswered, &coder)
    try coder.uint8(&refusals, "refusals")
    let blank = SubjectActivity(subject: "", at: Timestamp(microseconds: 0))
    try coder.list(elements: &subjects, blank: blank) { (subject, coder) throws(Coder.Failure) in
      try subject.fields(since: base, &coder)
    }
    if !subjects.isEmpty { try coder.instant(&listensSince, since: base, "an instant") }
  }

  private mutating func numbers<Coder: StateCoder>(
    _ parts: inout RecordBits, since base: Int64, _ coder: inout Coder
  ) throws(Coder.Failure) {
    isChannel = Coder.codes(.isChannel, isChannel, &parts)
    tokenDead = Coder.codes(.tokenDead, tokenDead, &parts)
    frequentPushes = Coder.codes(.frequentPushes, frequentPushes, &parts)
    ended = Coder.codes(.ended, ended, &parts)
    if Coder.codes(.tat, !rate.isFull, &parts) { try coder.instant(&rate, since: base, "a TAT") }
    if Coder.codes(.timestamp, timestamp != 0, &parts) {
      var distance = timestamp &- base / 1_000_000
      try coder.zigzag(&distance, "a timestamp")
      timestamp = distance &+ base / 1_000_000
    }
    if Coder.codes(.startedAt, startedAt.microseconds != 0, &parts) {
      try coder.instant(&startedAt, since: base, "an instant")
    }
    if Coder.codes(.lastEventAt, lastEventAt.microseconds != 0, &parts) {
      try coder.instant(&lastEventAt, since: base, "an instant")
    }
  }
}

extension SubjectActivity {
  fileprivate mutating func fields<Coder: FieldCoder & StateCoder>(
    since base: Int64, _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.string(&subject, "a subject")
    var (at, begun, life, changed, served, refusals) = (at, begun, lastLife, changedAt, served, refusals)
    try coder.instant(&at, since: base, "an instant")
    try coder.instant(&begun, since: at.microseconds, "an instant")
    try life.fields(since: base, &coder)
    try coder.instant(&changed, since: base, "an instant")
    try coder.instant(&served, since: base, "an instant")
    try coder.bool(&isRegistered, "whether it is registered")
    try coder.bool(&isKept, "whether it is never given up")
    try coder.uint8(&refusals, "refusals")
    try told.fields(since: base, &coder)
    try AddressedState.SentPush.fields(&push, &coder)
    if Coder.reads { restore(life, at: at, begun: begun, changedAt: changed, served: served, refusals: refusals) }
  }
}

/// The form of a life in a record: one byte, and the instant since which it is over.
private enum ActivityLifeForm: UInt8, CaseIterable {
  case notStarted, startSent, awaitingToken, running, runningOnChannel, tokenDead, ending, ended, dismissed
}

extension ActivityLife {
  private var form: ActivityLifeForm {
    switch self {
    case .notStarted: .notStarted
    case .startSent: .startSent
    case .awaitingToken: .awaitingToken
    case .running(let onChannel): onChannel ? .runningOnChannel : .running
    case .tokenDead: .tokenDead
    case .ending: .ending
    case .ended: .ended
    case .dismissed: .dismissed
    }
  }

  fileprivate mutating func fields<Coder: FieldCoder & StateCoder>(
    since base: Int64, _ coder: inout Coder
  ) throws(Coder.Failure) {
    var form = form
    try coder.tag(&form, "a life")
    var instant = overSince ?? Timestamp(microseconds: base)
    if form == .ended || form == .dismissed { try coder.instant(&instant, since: base, "an instant") }
    guard Coder.reads else { return }
    self =
      switch form {
      case .notStarted: .notStarted
      case .startSent: .startSent
      case .awaitingToken: .awaitingToken
      case .running: .running(onChannel: false)
      case .runningOnChannel: .running(onChannel: true)
      case .tokenDead: .tokenDead
      case .ending: .ending
      case .ended: .ended(at: instant)
      case .dismissed: .dismissed(at: instant)
      }
  }
}

extension AddressedState.Told {
  fileprivate mutating func fields<Coder: StateCoder>(since base: Int64, _ coder: inout Coder) throws(Coder.Failure) {
    try coder.instant(&upTo, since: base, "an instant")
    try coder.float(&score, "a score")
    try coder.instant(&at, since: base, "an instant")
  }
}

extension AddressedState.SentPush {
  fileprivate static func fields<Coder: FieldCoder & StateCoder>(
    _ push: inout Self?, _ coder: inout Coder
  ) throws(Coder.Failure) {
    var isThere = push != nil
    try coder.bool(&isThere, "whether an answer is awaited")
    guard isThere else { return }
    var sent = push ?? Self()
    try coder.int64(&sent.offset, "an offset")
    try coder.varint(&sent.ordinal, "an ordinal")
    try coder.bool(&sent.isEnd, "whether it is an end")
    try coder.bool(&sent.isCharged, "whether it is charged")
    try coder.bool(&sent.isAppCharged, "whether the app is charged")
    try coder.bool(&sent.isFrequent, "whether its rate is that of frequent updates")
    try coder.bool(&sent.isToOldToken, "whether its token was replaced")
    push = sent
  }
}

extension BinaryReader {
  /// Reads an instant that was written relative to another one.
  /// - Parameters:
  ///   - what: The name of the instant, for errors.
  ///   - base: The other instant, in µs.
  /// - Throws: `BinaryError` for a record that is cut off or corrupt.
  mutating func instant(_ what: StaticString, after base: Int64) throws(BinaryError) -> Timestamp {
    Timestamp(microseconds: try zigzag(what) &+ base)
  }
}
