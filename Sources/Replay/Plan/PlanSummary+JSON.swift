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
    json.object("commandsBySurface") { json in
      for (surface, count) in commandsBySurface {
        json.key(surface.rawValue)
        json.integer(count)
      }
    }
    writePayloads(to: &json)
    writeZombies(to: &json)
    json.object("charged") { json in
      for (ledger, count) in zip(Command.Ledger.allCases, charged) {
        json.key(ledger.rawValue)
        json.integer(count)
      }
    }
    if let first, let last {
      json.member("from", first.description)
      json.member("to", last.description)
    }
    json.array("firstDeadLetters", firstDeadLetters) { letter, json in json.string(letter.description) }
    json.member("eventsWithKeysLeftOut", eventsWithKeysLeftOut)
    json.member("eventsTooOld", eventsTooOld)
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
    json.object("payloads") { json in
      for (band, count) in payloads {
        json.key(band.rawValue)
        json.integer(count)
      }
    }
    json.objects("refusedPayloads", refusedPayloads) { payload, json in
      json.member("kind", payload.kind)
      json.member("event", payload.event)
      json.member("bytes", payload.bytes)
      json.member("bytesMax", payload.bytesMax)
      json.member("refused", payload.count)
      json.object("largest") { json in
        for member in payload.members {
          json.key(member.name.text)
          json.integer(member.bytes)
        }
      }
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
