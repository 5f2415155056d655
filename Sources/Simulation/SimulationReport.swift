public import Domain
import JSON

/// What a simulation found: per kind, every policy and baseline against the hindsight optimum.
public struct SimulationReport: Equatable, Sendable {
  public var events = 0
  public var devices = 0
  /// Instances that a push can reach, and how many of them were measured.
  public var instances = 0
  public var measured = 0
  public var deadLetters = 0
  public var firstDeadLetter: DeadLetter?
  public var first: Timestamp?
  public var last: Timestamp?
  public var commands: [Commands] = []
  /// In the order of names.
  public var kinds: [Kind] = []

  public init() {}

  /// What a policy's planner did in all.
  public struct Commands: Equatable, Sendable {
    public var name: String
    public var decisions: Int
    public var commands: Int
  }

  public struct Kind: Equatable, Sendable {
    public var name: String
    public var halfLife: TimeSpan
    /// Measured instances to which something came.
    public var instances: Int
    /// Instance-days on which something came.
    public var instanceDays: Int
    /// Visible changes, over all instances.
    public var arrivals: Int
    /// Policies in the order given, then baselines.
    public var plans: [Plan]
  }

  public struct Plan: Equatable, Sendable {
    public var name: String
    public var isPolicy: Bool
    /// Tokens a day and instance.
    public var tokens: Int
    public var minInterval: TimeSpan
    /// Instance-days on which anything could be captured.
    public var samples: Int
    /// Value shown ÷ the most that so many reloads could have shown, by instance-day.
    public var capturedMean: Double
    public var capturedP10: Double
    /// At 0, 5, 10 … 100 % of the instance-days.
    public var capturedTwentieths: [Double]
    /// Per instance-day, weighted by the chance of a look.
    public var staleSecondsPerDay: Double
    /// Changes of relevance 0.8 and more.
    public var criticalChanges: Int
    public var criticalNeverShown: Int
    /// Infinite where so many were never shown; nil where there were none.
    public var secondsToFreshP50: Double?
    public var secondsToFreshP95: Double?
    public var reloads: Int
    /// Showed nothing new.
    public var reloadsWasted: Int
    public var tokensUnusedPerDay: Double
    /// Instance-days without a reload though something came.
    public var daysStarved: Int
    /// Must be 0.
    public var overBudget: Int
    /// Mean at 0, 1 … 24 hours after the day's anchor.
    public var tokensLeftByHour: [Double]
    /// What one token more would have brought, and the reloads that the optimum makes; means over instance-days.
    public var hindsightPriceMean: Double
    public var hindsightReloadsPerDay: Double
  }
}

extension SimulationReport {
  /// One JSON object.
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
      json.endObject()
    }
    json.endArray()
    json.key("kinds")
    json.beginArray()
    for kind in kinds { kind.encode(to: &json) }
    json.endArray()
    json.endObject()
    return json.bytes
  }

  private var counts: [(StaticString, Int)] {
    [
      ("events", events), ("devices", devices), ("instances", instances), ("instancesMeasured", measured),
      ("deadLetters", deadLetters),
    ]
  }
}

extension SimulationReport.Kind {
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

extension SimulationReport.Plan {
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
    json.endObject()
  }

  private var integers: [(StaticString, Int)] {
    [
      ("tokensPerDay", tokens), ("minIntervalSeconds", Int(minInterval.microseconds / 1_000_000)),
      ("samples", samples), ("criticalChanges", criticalChanges), ("criticalNeverShown", criticalNeverShown),
      ("reloads", reloads), ("reloadsWasted", reloadsWasted), ("daysStarved", daysStarved), ("overBudget", overBudget),
    ]
  }

  /// Null: none, or never.
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
