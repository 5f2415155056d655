import Domain
public import JSON

extension DecisionWriter {
  /// Writes one command of the planner's last step, with the bytes of `Command.encode(to:)`. The largest size of each piece is
  /// computed first, so that a command is written in few pieces.
  /// - Parameters:
  ///   - index: The index of the command in `output`.
  ///   - output: The output of the planner's last step.
  ///   - planner: The planner that this writer belongs to.
  ///   - json: Receives the command as a JSON object.
  public mutating func write(
    command index: Int, of output: PlannerOutput, by planner: borrowing Planner, to json: inout JSONWriter
  ) {
    let planned = output.commands[index]
    if index % Fleet.prefetchMax == 0, output.commandCount > 1 { planner.fleet.prefetch(tokensFrom: index, of: output) }
    guard case .reload(.widgetPushes, _) = planned.push else {
      // Pushes other than widget pushes are rare, so they take the slower way.
      planner.command(index, of: output).encode(to: &json)
      return
    }
    prepareCommand(planner.fleet)
    if !planned.event.isAbsent, planned.event != event { begin(event: planned.event, planner.fleet) }
    let device = planner.fleet.registry.devices[planned.device]
    let name = planner.fleet.registry.texts.range(of: device.id)
    let app = appID(device.app, planner.fleet)
    head(
      planned.ordinal, device: planner.fleet.registry.texts.bytes.span.extracting(name), app: app,
      isProduction: device.flags.contains(.production), to: &json)
    for place in planned.servedStart..<planned.servedStart + planned.servedCount {
      serve(output.served[place], isFirst: place == planned.servedStart, output, planner.fleet, to: &json)
    }
    json.piece(ofAtMost: 16) { $0.append("],\"charged\":[") }
    for place in planned.chargesStart..<planned.chargesStart + planned.chargesCount {
      charge(
        output.charges[place], isFirst: place == planned.chargesStart, device: name, app: app, planner.fleet, to: &json)
    }
    request(planned, device, planner.fleet, to: &json)
  }

  private func head(
    _ ordinal: UInt32, device: Span<UInt8>, app: [UInt8], isProduction: Bool, to json: inout JSONWriter
  ) {
    let names = OutputSpan<UInt8>.quotedMax(device.count) + app.count + idStem.count + 1
    json.piece(ofAtMost: 160 + OutputSpan<UInt8>.decimalMax + names) { room in
      room.append("{\"command\":\"c")
      room.append(idStem.span)
      room.append(decimal: UInt64(ordinal))
      room.append("\",\"device\":")
      room.append(quoted: device)
      room.append(",\"app\":")
      room.append(app.span)
      room.append(
        isProduction
          ? ",\"environment\":\"production\",\"surface\":\"widget\",\"serves\":["
          : ",\"environment\":\"sandbox\",\"surface\":\"widget\",\"serves\":[")
    }
  }

  private mutating func serve(
    _ served: PlannedServed, isFirst: Bool, _ output: PlannerOutput, _ fleet: borrowing Fleet,
    to json: inout JSONWriter
  ) {
    let instance = fleet.registry.texts.bytes.span.extracting(instanceID(served.instance, fleet))
    let kind = kindName(fleet.registry.instances[served.instance].kind, fleet)
    json.piece(ofAtMost: 64 + OutputSpan<UInt8>.quotedMax(instance.count) + kind.count) { room in
      room.append(isFirst ? "{\"instance\":" : ",{\"instance\":")
      room.append(quoted: instance)
      room.append(",\"kind\":")
      room.append(kind.span)
      room.append(",\"events\":[")
    }
    let first = served.causesStart + served.leftOut
    for place in first..<served.causesStart + served.causesCount {
      let comma = place > first
      let slot = output.causes[place]
      if slot == event {
        json.piece(ofAtMost: 1 + eventID.count) { room in
          if comma { room.append(UInt8(ascii: ",")) }
          room.append(eventID.span)
        }
      } else {
        let id = fleet.pending.events[slot].id
        json.piece(ofAtMost: 1 + OutputSpan<UInt8>.quotedMax(id.utf8.count)) { room in
          if comma { room.append(UInt8(ascii: ",")) }
          room.append(quoted: id.utf8.span)
        }
      }
    }
    let reason = served.reason.rawValue
    let leftOut = served.leftOut
    json.piece(ofAtMost: 40 + OutputSpan<UInt8>.decimalMax + reason.utf8.count) { room in
      room.append("]")
      if leftOut > 0 {
        room.append(",\"eventsLeftOut\":")
        room.append(decimal: UInt64(leftOut))
      }
      room.append(",\"reason\":\"")
      room.append(reason.utf8.span)
      room.append("\"}")
    }
  }

  private func charge(
    _ charge: PlannedCharge, isFirst: Bool, device: Range<Int>, app: [UInt8], _ fleet: borrowing Fleet,
    to json: inout JSONWriter
  ) {
    let ledger = charge.ledger.rawValue
    json.piece(ofAtMost: 32 + ledger.utf8.count) { room in
      room.append(isFirst ? "{\"ledger\":\"" : ",{\"ledger\":\"")
      room.append(ledger.utf8.span)
      room.append("\",\"owner\":")
    }
    let left = charge.left
    if charge.ledger == .app {
      json.piece(ofAtMost: app.count) { $0.append(app.span) }
    } else {
      let isInstance = charge.ledger.traits.owner == .instance
      let place = isInstance ? instanceID(charge.instance, fleet) : device
      let owner = fleet.registry.texts.bytes.span.extracting(place)
      json.piece(ofAtMost: OutputSpan<UInt8>.quotedMax(owner.count)) { $0.append(quoted: owner) }
    }
    json.piece(ofAtMost: 16 + OutputSpan<UInt8>.decimalMax) { room in
      room.append(",\"left\":")
      if left < 0 { room.append(UInt8(ascii: "-")) }
      room.append(decimal: UInt64(left.magnitude))
      room.append("}")
    }
  }

  /// Writes the request as `APNsRequests.widgets` makes it, and the rest of the command.
  private mutating func request(
    _ planned: PlannedCommand, _ device: DeviceState, _ fleet: borrowing Fleet, to json: inout JSONWriter
  ) {
    var isPacked = false
    if !device.tokens.isAbsent {
      let tokens = fleet.registry.texts.bytes.span.extracting(fleet.registry.texts.range(of: device.tokens))
      isPacked = TokenPair.appendWidgets(tokens, to: &tokenDigits)
    }
    if !isPacked {
      tokenDigits.removeAll(keepingCapacity: true)
      tokenDigits += (fleet.registry.tokens(of: planned.device).widgets ?? "").utf8
    }
    let request = requestID(planned.ordinal)
    let topic = topic(ofApp: device.app, fleet)
    let payload = APNsRequests.widgetsPayload
    let instants = at.count + expires.count + policy.count
    let trace = planned.event.isAbsent ? [] : traceparent
    let token = OutputSpan<UInt8>.quotedMax(tokenDigits.count)
    json.piece(ofAtMost: 256 + token + topic.count + payload.count + instants + trace.count) { room in
      room.append("],\"apns\":{\"token\":")
      room.append(quoted: tokenDigits.span)
      room.append(",\"headers\":{\"apns-id\":\"")
      APNsRequests.append(requestID: request, to: &room)
      room.append("\",\"apns-push-type\":\"widgets\",\"apns-topic\":")
      room.append(topic.span)
      room.append("},\"payload\":")
      room.append(payload.span)
      room.append("},\"at\":")
      room.append(at.span)
      room.append(",\"expires\":")
      room.append(expires.span)
      room.append(",\"policy\":")
      room.append(policy.span)
      room.append(trace.span)
      room.append("}")
    }
  }

  /// Returns the place of an instance's id in the texts of the registry.
  private func instanceID(_ instance: InstanceSlot, _ fleet: borrowing Fleet) -> Range<Int> {
    fleet.registry.idRange(of: instance)
  }
}
