import Domain
import Policies

extension Fleet {
  /// Returns the id of a decision: `d-<partition>-<offset>-<ordinal>`.
  static func decisionID(partition: Int32, offset: Int64, ordinal: UInt32) -> Identifier {
    "d-\(partition)-\(offset)-\(ordinal)"
  }

  /// Returns the id of a command: `c-<partition>-<offset>-<ordinal>`.
  static func commandID(partition: Int32, offset: Int64, ordinal: UInt32) -> Identifier {
    "c-\(partition)-\(offset)-\(ordinal)"
  }

  /// See `Planner.decision(_:of:)`.
  func decision(_ index: Int, of output: PlannerOutput) -> Decision {
    let planned = output.decisions[index]
    let device = registry.instances[planned.instance].device
    let event = pending.events[planned.event]
    var merged = [event.id]
    if planned.causesCount > 1 {
      let range = Int(planned.causesStart)..<Int(planned.causesStart + planned.causesCount)
      merged = range.map { pending.events[output.causes[$0]].id }
    }
    return Decision(
      decision: Self.decisionID(partition: partition, offset: record.offset, ordinal: planned.ordinal), event: event.id,
      events: merged, device: registry.id(of: device), instance: registry.id(of: planned.instance),
      kind: rules[planned.kind].name, surface: planned.surface,
      verdict: planned.verdict, reason: planned.reason, final: planned.final, at: now,
      relevance: Double(planned.relevance), wrong: Double(planned.wrong), looks: Double(planned.looks),
      value: Double(planned.value), price: Double(planned.price),
      tokensLeft: Decision.TokensLeft(
        instance: planned.leftInstance < 0 ? nil : Int(planned.leftInstance),
        device: planned.leftDevice < 0 ? nil : Int(planned.leftDevice),
        app: planned.leftApp < 0 ? nil : Int(planned.leftApp)),
      until: planned.until == .distantFuture ? nil : planned.until,
      command: output.command(of: planned, offset: record.offset).map {
        Self.commandID(partition: partition, offset: $0.offset, ordinal: $0.ordinal)
      },
      objective: planned.objective,
      policy: rules.policy.reference, traceparent: event.traceparent)
  }

  /// See `Planner.command(_:of:)`.
  func command(_ index: Int, of output: PlannerOutput) -> Command {
    let planned = output.commands[index]
    let device = registry.devices[planned.device]
    let deviceID = registry.id(of: planned.device)
    let app = ledgers.apps[device.app].id
    let id = Self.commandID(partition: partition, offset: record.offset, ordinal: planned.ordinal)
    let serves = (planned.servedStart..<planned.servedStart + planned.servedCount).map { place in
      let served = output.served[place]
      return Command.Served(
        instance: registry.id(of: served.instance), kind: rules[registry.instances[served.instance].kind].name,
        events: (served.causesStart + served.leftOut..<served.causesStart + served.causesCount).map {
          pending.events[output.causes[$0]].id
        },
        eventsLeftOut: served.leftOut,
        reason: served.reason)
    }
    let charged = (planned.chargesStart..<planned.chargesStart + planned.chargesCount).map { place in
      let charge = output.charges[place]
      let owner: Identifier
      switch charge.ledger.traits.owner {
      case .instance: owner = registry.id(of: charge.instance)
      case .device: owner = deviceID
      case .app: owner = app
      }
      return Command.Charge(ledger: charge.ledger, owner: owner, left: Int(charge.left))
    }
    return Command(
      command: id, device: deviceID, app: app,
      environment: device.flags.contains(.production) ? .production : .sandbox, surface: surface(of: planned),
      serves: serves, charged: charged,
      apns: request(planned, of: output, app: app, command: id, kinds: Set(serves.map(\.kind)).sorted()),
      at: now, expires: expiry(of: planned, in: output),
      policy: rules.policy.reference, traceparent: planned.event.ifPresent.flatMap { pending.events[$0].traceparent },
      subject: started(by: planned, of: output))
  }

  private func started(by planned: PlannedCommand, of output: PlannerOutput) -> Identifier? {
    guard case .activity(_, let payload, _) = planned.push else { return nil }
    return output.payloads[payload].subject
  }

  private func expiry(of planned: PlannedCommand, in output: PlannerOutput) -> Timestamp {
    guard case .activity(_, let payload, _) = planned.push else {
      return now + bounds.commandLifetime
    }
    return output.payloads[payload].expires
  }

  private func surface(of planned: PlannedCommand) -> Surface {
    if case .activity(let instance, _, _) = planned.push, registry.addressed[instance]?.isChannel == true {
      return .broadcast
    }
    return planned.push.surface
  }

  private func request(
    _ planned: PlannedCommand, of output: PlannerOutput, app: Identifier, command: Identifier, kinds: [Identifier]
  ) -> Command.APNs {
    switch planned.push {
    case .reload(.widgetPushes, _):
      return APNsRequests.widgets(token: registry.tokens(of: planned.device).widgets ?? "", app: app, command: command)
    case .reload(.backgroundPushes, _):
      return APNsRequests.background(
        token: registry.tokens(of: planned.device).background ?? "", app: app, command: command, kinds: kinds)
    case .reload(.controlPushes, let instance):
      return APNsRequests.control(token: registry.addressed[instance]?.token ?? "", app: app, command: command)
    case .activity(let instance, let payload, let priority):
      let state = registry.addressed[instance] ?? AddressedState()
      let kind = kinds.first.flatMap { rules.policy.kind(named: $0) }
      return APNsRequests.activity(
        address: state.isChannel ? .channel(Identifier(state.token)) : .token(state.token), app: app, command: command,
        priority: priority, stores: kind?.activity?.channelStoresNewest ?? true,
        expires: output.payloads[payload].expires.seconds, payload: output.payloads[payload].body)
    }
  }
}
