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
    for (key, value) in counts {
      json.key(key)
      json.integer(value)
    }
    writeOutcomes(to: &json)
    json.key("commandsBySurface")
    json.beginObject()
    for (surface, count) in commandsBySurface {
      json.key(surface.rawValue)
      json.integer(count)
    }
    json.endObject()
    writePayloads(to: &json)
    writeZombies(to: &json)
    json.key("charged")
    json.beginObject()
    for (ledger, count) in zip(Command.Ledger.allCases, charged) {
      json.key(ledger.rawValue)
      json.integer(count)
    }
    json.endObject()
    if let first, let last {
      json.key("from")
      json.string(first.description)
      json.key("to")
      json.string(last.description)
    }
    json.key("firstDeadLetters")
    json.beginArray()
    for letter in firstDeadLetters { json.string(letter.description) }
    json.endArray()
    json.key("eventsWithKeysLeftOut")
    json.integer(eventsWithKeysLeftOut)
    json.key("eventsTooOld")
    json.integer(eventsTooOld)
    extra(&json)
    json.endObject()
    return json.bytes
  }

  private func writeOutcomes(to json: inout JSONWriter) {
    json.key("outcomes")
    json.beginArray()
    for (outcome, count) in outcomes {
      json.beginObject()
      json.key("verdict")
      json.string(outcome.verdict.rawValue)
      json.key("reason")
      json.string(outcome.reason.rawValue)
      json.key("decisions")
      json.integer(count)
      json.endObject()
    }
    json.endArray()
  }

  private func writePayloads(to json: inout JSONWriter) {
    json.key("payloads")
    json.beginObject()
    for (band, count) in payloads {
      json.key(band.rawValue)
      json.integer(count)
    }
    json.endObject()
    json.key("refusedPayloads")
    json.beginArray()
    for payload in refusedPayloads {
      json.beginObject()
      json.key("kind")
      json.string(payload.kind)
      json.key("event")
      json.string(payload.event)
      json.key("bytes")
      json.integer(payload.bytes)
      json.key("bytesMax")
      json.integer(payload.bytesMax)
      json.key("refused")
      json.integer(payload.count)
      json.key("largest")
      json.beginObject()
      for member in payload.members {
        json.key(member.name)
        json.integer(member.bytes)
      }
      json.endObject()
      json.endObject()
    }
    json.endArray()
  }

  private func writeZombies(to json: inout JSONWriter) {
    json.key("zombies")
    json.integer(zombies)
    json.key("firstZombies")
    json.beginArray()
    for zombie in firstZombies {
      json.beginObject()
      json.key("device")
      json.string(zombie.device)
      json.key("subject")
      json.string(zombie.subject)
      json.key("kind")
      json.string(zombie.kind)
      json.key("since")
      json.string(zombie.since.description)
      json.key("cause")
      json.string(zombie.cause.rawValue)
      json.endObject()
    }
    json.endArray()
  }

  private var counts: [(StaticString, Int)] {
    [
      ("registrations", registrations), ("events", events), ("signals", signals), ("ticks", ticks),
      ("outOfOrder", outOfOrder), ("deadLetters", deadLetters), ("devices", devices), ("instances", instances),
      ("decisions", decisions), ("commands", commands), ("pending", pending),
    ]
  }
}
