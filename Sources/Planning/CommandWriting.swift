import Domain
public import JSON

extension DecisionWriter {
  /// Writes one command of the planner's last step: the bytes of `Command.encode(to:)`.
  public mutating func write(
    command index: Int, of output: PlannerOutput, by planner: borrowing Planner, to json: inout JSONWriter
  ) {
    let planned = output.commands[index]
    guard case .widgets = planned.push else {
      // Rarer by far.
      planner.command(index, of: output).encode(to: &json)
      return
    }
    prepare(planner)
    let device = planner.devices[planned.device]
    json.beginObject()
    json.key("command")
    commandID(planned.ordinal, to: &json)
    json.key("device")
    json.string(utf8: planner.texts.bytes.span.extracting(planner.texts.range(of: device.id)))
    json.key("app")
    json.string(planner.apps[Int(device.app)].id)
    json.key("environment")
    let environment: Registration.Environment = device.flags.contains(.production) ? .production : .sandbox
    json.string(environment.rawValue)
    json.key("surface")
    json.string(Surface.widget.rawValue)
    serves(planned, output, planner, to: &json)
    charged(planned, output, planner, to: &json)
    json.key("apns")
    widgetPush(planned, device, planner, to: &json)
    instants(to: &json)
    if planned.event != none, let traceparent = planner.events[planned.event].traceparent {
      json.key("traceparent")
      json.string(traceparent)
    }
    json.endObject()
  }

  private func serves(
    _ planned: PlannedCommand, _ output: PlannerOutput, _ planner: borrowing Planner, to json: inout JSONWriter
  ) {
    json.key("serves")
    json.beginArray()
    for place in planned.servedStart..<planned.servedStart + planned.servedCount {
      let served = output.served[place]
      json.beginObject()
      json.key("instance")
      Self.instanceID(served.instance, planner, to: &json)
      json.key("kind")
      json.string(planner.kinds[Int(planner.instances[served.instance].kind)].name)
      json.key("events")
      json.beginArray()
      for cause in served.causesStart..<served.causesStart + served.causesCount {
        json.string(planner.events[output.causes[cause]].id)
      }
      json.endArray()
      json.key("reason")
      json.string(served.reason.rawValue)
      json.endObject()
    }
    json.endArray()
  }

  private func charged(
    _ planned: PlannedCommand, _ output: PlannerOutput, _ planner: borrowing Planner, to json: inout JSONWriter
  ) {
    json.key("charged")
    json.beginArray()
    for place in planned.chargesStart..<planned.chargesStart + planned.chargesCount {
      let charge = output.charges[place]
      json.beginObject()
      json.key("ledger")
      json.string(charge.ledger.rawValue)
      json.key("owner")
      switch charge.ledger {
      case .instance, .control, .activity: Self.instanceID(charge.instance, planner, to: &json)
      case .device, .background, .start:
        json.string(
          utf8: planner.texts.bytes.span.extracting(planner.texts.range(of: planner.devices[planned.device].id)))
      case .app: json.string(planner.apps[Int(planner.devices[planned.device].app)].id)
      }
      json.key("left")
      json.integer(Int(charge.left))
      json.endObject()
    }
    json.endArray()
  }

  /// `APNsRequests.widgets`
  private mutating func widgetPush(
    _ planned: PlannedCommand, _ device: DeviceState, _ planner: borrowing Planner, to json: inout JSONWriter
  ) {
    json.beginObject()
    json.key("token")
    if device.tokens != TextPool.noText,
      TokenPair.appendWidgets(
        planner.texts.bytes.span.extracting(planner.texts.range(of: device.tokens)), to: &tokenDigits)
    {
      json.string(ofAtMost: tokenDigits.count) { $0.append(tokenDigits.span) }
    } else {
      json.string(planner.tokens(planned.device).widgets ?? "")
    }
    json.key("headers")
    json.beginObject()
    json.key("apns-id")
    let request = requestID(planned.ordinal)
    json.string(ofAtMost: APNsRequests.RequestID.textCount) { APNsRequests.append(requestID: request, to: &$0) }
    json.key("apns-push-type")
    json.string("widgets" as StaticString)
    json.key("apns-topic")
    let topic = topic(ofApp: device.app, planner)
    json.raw(utf8: topic.span)
    json.endObject()
    json.key("payload")
    let payload = APNsRequests.widgetsPayload
    json.raw(utf8: payload.span)
    json.endObject()
  }

  private static func instanceID(_ instance: UInt32, _ planner: borrowing Planner, to json: inout JSONWriter) {
    let text = planner.instanceIDs.handle(planner.instances[instance].id)
    json.string(utf8: planner.texts.bytes.span.extracting(planner.texts.range(of: text)))
  }
}
