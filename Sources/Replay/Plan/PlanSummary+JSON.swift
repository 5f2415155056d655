import Domain
public import JSON
import Planning
import Policies

extension PlanSummary {
  /// Returns the summary as one JSON object.
  /// - Parameter extra: Writes further members before the object ends.
  public func json(extra: (inout JSONWriter) -> Void = { _ in }) -> [UInt8] {
    var json = JSONWriter(reserving: 2048)
    json.beginObject()
    json.members(counts)
    writeOutcomes(to: &json)
    json.counts("commandsBySurface", commandsBySurface.lazy.map { ($0.rawValue, $1) })
    writePayloads(to: &json)
    writeZombies(to: &json)
    json.counts("charged", zip(Command.Ledger.allCases, charged).lazy.map { ($0.rawValue, $1) })
    if let first, let last {
      json.member("from", first.description)
      json.member("to", last.description)
    }
    json.array("firstDeadLetters", firstDeadLetters) { letter, json in json.string(letter.description) }
    json.member("eventsWithKeysLeftOut", eventsWithKeysLeftOut)
    extra(&json)
    json.endObject()
    return json.bytes
  }

  private func writeOutcomes(to json: inout JSONWriter) {
    json.objects("outcomes", outcomes) { element, json in
      let (outcome, count) = element
      json.member("verdict", outcome.verdict.rawValue)
      json.member("reason", outcome.reason.rawValue)
      json.member("decisions", count)
    }
  }

  private func writePayloads(to json: inout JSONWriter) {
    json.counts("payloads", payloads.lazy.map { ($0.rawValue, $1) })
    json.objects("refusedPayloads", refusedPayloads) { payload, json in
      json.member("kind", payload.kind)
      json.member("event", payload.event)
      json.member("bytes", payload.bytes)
      json.member("bytesMax", payload.bytesMax)
      json.member("refused", payload.count)
      json.counts("largest", payload.members.lazy.map { ($0.name.text, $0.bytes) })
    }
  }

  private func writeZombies(to json: inout JSONWriter) {
    json.member("zombies", zombies)
    json.objects("firstZombies", firstZombies) { zombie, json in
      json.member("device", zombie.device)
      json.member("subject", zombie.subject)
      json.member("kind", zombie.kind)
      json.member("since", zombie.since.description)
      json.member("cause", zombie.cause.rawValue)
    }
  }

  private var counts: [(StaticString, Int)] {
    [
      ("registrations", registrations), ("events", events), ("signals", signals), ("ticks", ticks),
      ("outOfOrder", outOfOrder), ("deadLetters", deadLetters), ("devices", devices), ("instances", instances),
      ("decisions", decisions), ("commands", commands), ("pending", pending),
    ]
  }
}
