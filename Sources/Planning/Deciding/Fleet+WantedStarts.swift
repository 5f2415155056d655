import Domain
import Policies

/// The first iOS with push-to-start tokens. Source: Apple's pushToStartTokenUpdates page.
private let pushToStartOS = OSVersion(major: 17, minor: 2)

/// The first iOS on which a started activity can listen to a channel; earlier systems do not start it. Source: as below.
private let startChannelOS = OSVersion(major: 18)

/// The first iOS on which a start must ask for the token of the activity; without that, no update can be sent to it. Earlier systems send
/// the token unasked. Source: Apple's page "Starting and updating Live Activities with ActivityKit push notifications" for the key, reports
/// of senders for what happens without it.
private let startTokenOS = OSVersion(major: 18)

/// Questions about what a push-to-start token may start.
extension Fleet {
  /// Returns whether an event concerns a push-to-start token: whether it starts an activity, makes one possible that could not be started
  /// yet, or would be pushed to one that was started by the token and has none of its own yet.
  func concerns(starter: InstanceSlot, _ event: borrowing EventInHand) -> Bool {
    let kind = registry.instances[starter].kind
    let evaluation = event.evaluations[kind.index]
    if evaluation.hasRule, evaluation.action == .start { return true }
    if event.known.sessions.isEmpty { return false }
    let subject = event.content?.subject ?? ""
    if awaitsToken(subject, by: starter) { return evaluation.hasRule }
    guard evaluation.hasRule, evaluation.action == .update, let state = registry.addressed[starter],
      state.isReachable, state.owedAt == .distantFuture
    else { return false }
    let session = event.known.session(rules[kind].name)
    return wantsStart(session, of: subject, by: starter) || isGivenUp(subject, by: starter) && !session.isOver
  }

  /// Returns whether an activity of the subject was started by a push-to-start token, and the device has not registered it yet. One that
  /// listens to a channel needs no token.
  func awaitsToken(_ subject: Identifier, by starter: InstanceSlot) -> Bool {
    guard let known = registry.addressed[starter]?.activity(of: subject), known.awaitsToken(at: now) else {
      return false
    }
    return !startsOnChannel(starter) && !isGivenUp(known, starter)
  }

  /// Returns whether the policy starts the activity of a subject again, because its token has not come.
  private func isGivenUp(_ subject: Identifier, by starter: InstanceSlot) -> Bool {
    registry.addressed[starter]?.activity(of: subject).map { isGivenUp($0, starter) } ?? false
  }

  private func isGivenUp(_ known: SubjectActivity, _ starter: InstanceSlot) -> Bool {
    known.isLate(at: now) && known.isPushed && !known.isKept && !startsOnChannel(starter)
      && rules.activity(registry.instances[starter].kind)?.restartWithoutToken == true
  }

  /// Returns whether the newest event that starts activities of a subject is still to start one by a push-to-start token: it could not,
  /// because the token was not known, content was missing, APNs did not take the start, or another activity was not over yet. One whose
  /// activity was given up waits for an event.
  /// - Parameters:
  ///   - session: The starts and ends of the token's kind.
  ///   - subject: The subject.
  ///   - starter: The push-to-start token.
  func wantsStart(_ session: KnownContent.Session, of subject: Identifier, by starter: InstanceSlot) -> Bool {
    session.isAlive && now <= session.startableUntil && !isGivenUp(subject, by: starter)
      && startRefusal(of: subject, wantedAt: session.start, session, by: starter) == nil
  }

  /// Returns the reason why an event does not start an activity because of another one of its subject; nil if it may.
  /// - Parameters:
  ///   - subject: The subject.
  ///   - wanted: The time of the event.
  ///   - session: The starts and ends of the token's kind.
  ///   - starter: The push-to-start token.
  func startRefusal(
    of subject: Identifier, wantedAt wanted: Timestamp, _ session: KnownContent.Session, by starter: InstanceSlot
  ) -> Reason? {
    if let known = registry.addressed[starter]?.activity(of: subject) {
      switch known.life(at: now) {
      case .running(onChannel: true),
        .startSent where startsOnChannel(starter):
        // The end to the channel ends the activities of all devices.
        if session.endBefore <= known.served { return .alreadyStarted }
      case .startSent, .awaitingToken: if !isGivenUp(known, starter) { return .alreadyStarted }
      case .running, .tokenDead, .ending: return .alreadyStarted
      case .dismissed(let instant):
        let isAnother = session.endBefore > known.begun || wanted > known.served
        if !isAnother || !mayRestart(known, dismissedAt: instant, session, starter) { return .dismissed }
      case .notStarted: if wanted <= known.served { return .alreadyStarted }
      case .ended(let instant):
        // A later event may start again a subject that an event has ended, whenever the device said that it was over.
        let hasEnded =
          session.endBefore > known.begun && (known.begun != .distantPast || wanted > instant)
          || instant != .distantPast && session.endBefore >= instant
        if wanted <= known.served, !hasEnded || wanted < session.endBefore { return .alreadyStarted }
      }
    }
    return nil
  }

  /// Returns whether a subject whose activity a person has removed may be started again: in another run, or after the time that the policy
  /// states.
  private func mayRestart(
    _ known: SubjectActivity, dismissedAt instant: Timestamp, _ session: KnownContent.Session, _ starter: InstanceSlot
  ) -> Bool {
    // Who removed it when the subject lived again did not only clear what was over. The clock of the device may be slow.
    if session.endBefore > known.begun, instant + ActivityTimes.clockError < session.runStart { return true }
    guard let pause = rules.activity(registry.instances[starter].kind)?.restartAfterDismissal else { return false }
    return now - instant >= pause
  }

  /// Decides about a start without an event.
  /// - Parameters:
  ///   - subject: The subject, which wants a start.
  ///   - content: All that is known of it.
  ///   - starter: The push-to-start token, which is alive.
  /// - Returns: The start, or the reason why there is none.
  func startVerdict(on subject: Identifier, _ content: KnownContent, by starter: InstanceSlot) -> ActivityVerdict {
    let (device, kind) = (registry.instances[starter].device, registry.instances[starter].kind)
    let session = content.session(rules[kind].name)
    var verdict = ActivityVerdict(relevance: session.startRelevance)
    guard let activity = rules.activity(kind), let state = registry.addressed[starter], rules[kind].enabled else {
      verdict.reason = .kindDisabled
      return verdict
    }
    verdict.reason = systemRefusal(of: starter)
    if verdict.reason != nil { return verdict }
    var event = content.event(after: nil)
    event.subject = subject
    addPush(.start, saying: event, activity, state, instance: starter, device: device, to: &verdict)
    return verdict
  }

  /// Returns whether the activities that a push-to-start token starts listen to a broadcast channel.
  func startsOnChannel(_ starter: InstanceSlot) -> Bool {
    rules.activity(registry.instances[starter].kind)?.channel != nil
  }

  /// Returns the reason why the system of a device cannot start an activity; nil if it can.
  func systemRefusal(of starter: InstanceSlot) -> Reason? {
    let state = registry.instances[starter]
    let first = startsOnChannel(starter) ? startChannelOS : pushToStartOS
    return registry.devices[state.device].osVersion < first ? .unsupportedOS : nil
  }

  /// Returns whether a start must ask for the token of the activity, if that does not listen to a channel.
  func asksForToken(_ starter: InstanceSlot) -> Bool {
    registry.devices[registry.instances[starter].device].osVersion >= startTokenOS
  }
}
