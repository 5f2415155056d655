import Domain
import JSON
import Policies
import Replay

extension BacktestReport {
  /// The report as one JSON object.
  public var json: [UInt8] {
    var json = JSONWriter(reserving: 8192)
    json.beginObject()
    for (key, value) in counts {
      json.key(key)
      json.integer(value)
    }
    if let first, let last {
      json.key("from")
      json.string(first.description)
      json.key("to")
      json.string(last.description)
    }
    if let firstDeadLetter {
      json.key("firstDeadLetter")
      json.string(firstDeadLetter.description)
    }
    json.key("deviceModel")
    deviceModel.encode(to: &json)
    json.key("policies")
    json.beginArray()
    for policy in commands {
      json.beginObject()
      json.key("name")
      json.string(policy.name)
      json.key("decisions")
      json.integer(policy.decisions)
      json.key("commands")
      json.integer(policy.commands)
      policy.encodeDetails(to: &json)
      json.endObject()
    }
    json.endArray()
    json.key("kinds")
    json.beginArray()
    for kind in kinds { kind.encode(to: &json) }
    json.endArray()
    json.key("sharedLimits")
    json.beginArray()
    for bound in shared { bound.encode(to: &json) }
    json.endArray()
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
    json.key("kind")
    json.string(name)
    json.key("halfLifeSeconds")
    json.number(Double(halfLife.microseconds) / 1e6)
    json.key("instances")
    json.integer(instances)
    json.key("instanceDays")
    json.integer(instanceDays)
    json.key("visibleChanges")
    json.integer(arrivals)
    json.key("plans")
    json.beginArray()
    for plan in plans { plan.encode(to: &json) }
    json.endArray()
    json.endObject()
  }
}

extension BacktestReport.Plan {
  fileprivate func encode(to json: inout JSONWriter) {
    json.beginObject()
    json.key("plan")
    json.string(name)
    json.key("isPolicy")
    json.bool(isPolicy)
    for (key, value) in integers {
      json.key(key)
      json.integer(value)
    }
    for (key, value) in numbers {
      json.key(key)
      if value.isFinite { json.rounded(value) } else { json.null() }
    }
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

extension BacktestReport.Screen {
  fileprivate func encode(to json: inout JSONWriter) {
    json.beginObject()
    json.key("pushesRefused")
    json.integer(refused)
    json.key("freshnessCapturedMean")
    json.rounded(capturedMean)
    json.key("freshnessCapturedP10")
    json.rounded(capturedP10)
    json.key("looks")
    json.integer(looks)
    json.key("looksStale")
    json.integer(looksStale)
    json.endObject()
  }
}

extension BacktestReport.Commands {
  fileprivate func encodeDetails(to json: inout JSONWriter) {
    json.key("receipts")
    json.integer(receipts)
    json.key("surfaces")
    json.beginArray()
    for counts in surfaces {
      json.beginObject()
      json.key("surface")
      json.string(counts.surface.rawValue)
      for (key, value) in counts.integers {
        json.key(key)
        json.integer(value)
      }
      json.endObject()
    }
    json.endArray()
    json.key("ledgers")
    json.beginArray()
    for ledger in ledgers {
      json.beginObject()
      json.key("ledger")
      json.string(ledger.ledger.rawValue)
      json.key("over")
      json.integer(ledger.over)
      json.endObject()
    }
    json.endArray()
    json.key("startsWithoutToken")
    json.integer(startsWithoutToken)
    json.key("zombies")
    json.integer(zombies)
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
    json.key("name")
    json.string(name.rawValue)
    json.key("seed")
    json.integer(Int(truncatingIfNeeded: seed))
    json.key("figures")
    json.beginArray()
    for figure in figures {
      json.beginObject()
      json.key("name")
      json.string(figure.name)
      json.key("value")
      json.rounded(figure.value)
      json.key("source")
      json.string(figure.provenance.source)
      json.key("confidence")
      json.string(figure.provenance.confidence)
      json.endObject()
    }
    json.endArray()
    json.endObject()
  }
}

extension BacktestReport.Shared {
  fileprivate func encode(to json: inout JSONWriter) {
    json.beginObject()
    json.key("plan")
    json.string(name)
    json.key("samples")
    json.integer(samples)
    for (key, value) in numbers {
      json.key(key)
      json.rounded(value)
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
