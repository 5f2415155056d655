package import Domain
package import JSON
import Policies
import Replay

extension BacktestReport {
  /// The report as one JSON object.
  public var json: [UInt8] {
    var json = JSONWriter(reserving: 8192)
    json.beginObject()
    json.members(counts)
    if let first, let last {
      json.member("from", first.description)
      json.member("to", last.description)
    }
    if let firstDeadLetter {
      json.member("firstDeadLetter", firstDeadLetter.description)
    }
    json.key("deviceModel")
    deviceModel.encode(to: &json)
    json.objects("policies", commands) { policy, json in
      json.member("name", policy.name)
      json.member("decisions", policy.decisions)
      json.member("commands", policy.commands)
      policy.encodeDetails(to: &json)
    }
    json.array("kinds", kinds) { $0.encode(to: &$1) }
    json.array("sharedLimits", shared) { $0.encode(to: &$1) }
    json.endObject()
    return json.bytes
  }

  private var counts: [(StaticString, Int)] {
    [
      ("events", events), ("signals", signals), ("devices", devices), ("instances", instances),
      ("instancesMeasured", measured),
      ("deadLetters", deadLetters),
    ]
  }
}

extension BacktestReport.Kind {
  fileprivate func encode(to json: inout JSONWriter) {
    json.beginObject()
    json.member("kind", name)
    if let halfLife { json.member("halfLifeSeconds", Double(halfLife.microseconds) / 1e6) }
    json.member("instances", instances)
    json.member("instanceDays", instanceDays)
    json.member("visibleChanges", arrivals)
    json.member("screenDays", screenDays)
    json.member("screenDaysThinned", screenDaysThinned)
    json.array("plans", plans) { $0.encode(to: &$1) }
    json.endObject()
  }
}

extension BacktestReport.Plan {
  fileprivate func encode(to json: inout JSONWriter) {
    json.beginObject()
    json.member("plan", name)
    json.member("isPolicy", isPolicy)
    json.members(integers)
    json.key("wrongLooks")
    wrongLooks.encode(to: &json)
    for (key, value) in numbers { json.member(key, rounded: value) }
    for (key, values) in lists {
      json.key(key)
      json.beginArray()
      for value in values { json.rounded(value) }
      json.endArray()
    }
    if let screen {
      json.key("screen")
      screen.encode(to: &json)
    }
    if let objective { json.object("objective") { objective.encode(to: &$0) } }
    json.endObject()
  }

  private var integers: [(StaticString, Int)] {
    [
      ("tokensPerDay", tokens), ("minIntervalSeconds", Int(minInterval.microseconds / 1_000_000)),
      ("samples", samples), ("criticalChanges", criticalChanges), ("criticalNeverShown", criticalNeverShown),
      ("reloads", reloads), ("reloadsWasted", reloadsWasted), ("daysStarved", daysStarved), ("overBudget", overBudget),
    ]
  }

  /// The members that are numbers. A value that is not finite is written as null: there is none, or it was never reached.
  private var numbers: [(StaticString, Double)] {
    [
      ("freshnessCapturedMean", capturedMean), ("freshnessCapturedP10", capturedP10),
      ("staleSecondsPerDay", staleSecondsPerDay), ("secondsToFreshP50", secondsToFreshP50 ?? .infinity),
      ("secondsToFreshP95", secondsToFreshP95 ?? .infinity), ("tokensUnusedPerDay", tokensUnusedPerDay),
      ("hindsightPriceMean", hindsightPriceMean), ("hindsightReloadsPerDay", hindsightReloadsPerDay),
    ]
  }

  private var lists: [(StaticString, [Double])] {
    [("tokensLeftByHour", tokensLeftByHour), ("freshnessCapturedTwentieths", capturedTwentieths)]
  }
}

extension BacktestReport.WrongLooks {
  fileprivate func encode(to json: inout JSONWriter) {
    json.beginObject()
    json.member("samples", samples)
    for (key, value) in numbers { json.member(key, rounded: value) }
    json.array("capturedTwentieths", capturedTwentieths) { value, json in json.rounded(value) }
    json.endObject()
  }

  private var numbers: [(StaticString, Double)] {
    [
      ("capturedMean", capturedMean), ("capturedP10", capturedP10), ("perDay", perDay),
      ("perDayWithout", perDayWithout), ("perDayOptimum", perDayOptimum),
    ]
  }
}

extension ObjectiveHindsight {
  /// Writes results as the member `kinds` of an open JSON object.
  package static func encode(
    _ results: [(kind: Identifier, objective: BacktestReport.Objective)], to json: inout JSONWriter
  ) {
    json.objects("kinds", results) { result, json in
      json.member("kind", result.kind.text)
      result.objective.encode(to: &json)
    }
  }
}

extension BacktestReport.Objective {
  /// Writes the members of an open JSON object.
  func encode(to json: inout JSONWriter) {
    json.member("freshWithinSeconds", rounded: Double(freshWithin.microseconds) / 1e6)
    json.member("share", rounded: share)
    json.member("wrongAtLeast", rounded: wrongAtLeast)
    json.members([
      ("instances", instances), ("instancesBound", instancesBound), ("instancesBeyond", instancesBeyond),
      ("changes", changes), ("met", met), ("possible", possible),
    ])
  }
}

extension BacktestReport.Screen {
  fileprivate func encode(to json: inout JSONWriter) {
    json.beginObject()
    json.member("pushesRefused", refused)
    json.member("freshnessCapturedMean", rounded: capturedMean)
    json.member("freshnessCapturedP10", rounded: capturedP10)
    json.member("looks", looks)
    json.member("looksStale", looksStale)
    json.key("wrongLooks")
    wrongLooks.encode(to: &json)
    json.endObject()
  }
}

extension BacktestReport.Commands {
  fileprivate func encodeDetails(to json: inout JSONWriter) {
    json.member("receipts", receipts)
    json.objects("surfaces", surfaces) { counts, json in
      json.member("surface", counts.surface.rawValue)
      for (key, value) in counts.integers {
        json.member(key, value)
      }
    }
    json.objects("ledgers", ledgers) { ledger, json in
      json.member("ledger", ledger.ledger.rawValue)
      json.member("over", ledger.over)
    }
    json.member("startsNotShown", activities.notShown)
    json.member("startsWithoutToken", activities.withoutToken)
    json.member("activitiesRemoved", activities.removed)
    json.member("activityPushesRefused", activities.refused)
    json.member("zombies", zombies)
  }
}

extension BacktestReport.SurfaceCounts {
  fileprivate var integers: [(StaticString, Int)] {
    var integers: [(StaticString, Int)] = [("commands", commands)]
    if surface.showsActivities {
      integers += [
        ("starts", starts), ("updates", updates), ("ends", ends), ("priority10", priority10), ("priority5", priority5),
      ]
    } else {
      integers += [("reloads", reloads), ("reloadsWasted", reloadsWasted)]
    }
    return integers + [("told", told), ("neverTold", neverTold)]
  }
}

extension DeviceModel {
  fileprivate func encode(to json: inout JSONWriter) {
    json.beginObject()
    json.member("name", name.rawValue)
    json.member("seed", Int(truncatingIfNeeded: seed))
    json.objects("figures", figures) { figure, json in
      json.member("name", figure.name)
      json.member("value", rounded: figure.value)
      json.member("source", figure.provenance.source)
      json.member("confidence", figure.provenance.confidence)
    }
    json.endObject()
  }
}

extension BacktestReport.Shared {
  fileprivate func encode(to json: inout JSONWriter) {
    json.beginObject()
    json.member("plan", name)
    json.member("samples", samples)
    for (key, value) in numbers {
      json.member(key, rounded: value)
    }
    json.endObject()
  }

  private var numbers: [(StaticString, Double)] {
    [
      ("valueShown", shown), ("sumOfOptima", sumOfOptima), ("upperBound", upperBound),
      ("ofUpperBoundMean", capturedMean), ("ofUpperBoundP10", capturedP10),
    ]
  }
}
