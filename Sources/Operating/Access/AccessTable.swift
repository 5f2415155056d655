package import Installation

/// The permissions that each role needs on the cluster, and no more.
///
/// This is the only list of them: `rouse topics acls` and the page about securing print it. A test compares it with the
/// calls that the stages make on the simulated cluster, and another one, where a broker with an authorizer is at hand, runs each
/// role with exactly these permissions.
///
/// No role needs a permission for the cluster itself. An idempotent producer needs `IdempotentWrite` there only on brokers
/// before Kafka 3.0; since then `Write` on a topic is enough.
package struct AccessTable: Sendable {
  private let settings: ClusterSettings

  /// Makes the table of an installation.
  ///
  /// - Parameter settings: The names of topics and groups.
  package init(_ settings: ClusterSettings) { self.settings = settings }

  /// Returns the permissions that a role needs.
  ///
  /// - Parameter role: The role.
  package func rules(of role: AccessRole) -> [AccessRule] {
    switch role {
    case .intake: intake
    case .planner: planner
    case .audit: audit
    case .gateway: gateway
    case .console: console
    case .create:
      names.all.map { topic($0, [.create, .describe], "makes the topic, and waits until it is there") }
    case .check: check
    case .policy: [topic(names.log, [.write], "appends the policy")]
    case .deadLetters:
      [topic(names.deadLetters, [.read], "reads the letters")]
    case .replay: replay
    case .skip: skip
    case .verify:
      [
        topic(names.decisions, [.read], "reads the decisions"), topic(names.commands, [.read], "reads the commands"),
      ]
    case .export:
      [
        topic(names.log, [.read], "reads what planners decided about"),
        topic(names.devices, [.read], "reads registrations that the log no longer has"),
      ]
    case .publisher: settings.eventTopics.map { topic($0, [.write], "publishes events") }
    case .backend:
      [
        topic(names.devices, [.write], "registers devices"), topic(names.signals, [.write], "publishes signals"),
      ]
    case .sender:
      [
        topic(names.commands, [.read], "reads commands; its own consumer group needs `Read`, too"),
        topic(names.signals, [.write], "publishes what became of a push"),
      ]
    }
  }

  /// Returns the permissions that several roles need together, one rule for each resource, in the order of the kinds and of
  /// the first role that names the resource.
  ///
  /// - Parameter roles: The roles.
  package func rules(of roles: [AccessRole]) -> [AccessRule] {
    Self.merged(roles.flatMap { rules(of: $0) })
  }

  private static func merged(_ rules: [AccessRule]) -> [AccessRule] {
    var merged: [AccessRule] = []
    for rule in rules {
      if let index = merged.firstIndex(where: { $0.resource == rule.resource }) {
        merged[index].operations = AccessRule.reduced(merged[index].operations.union(rule.operations))
      } else {
        merged.append(rule)
      }
    }
    return AccessRule.ResourceKind.allCases.flatMap { kind in merged.filter { $0.resource.kind == kind } }
  }

  // MARK: Roles

  private var intake: [AccessRule] {
    settings.eventTopics.map { topic($0, [.read], "reads events") } + [
      topic(names.devices, [.read], "reads registrations"),
      topic(names.signals, [.read], "reads signals"),
      topic(names.log, [.write], "appends what it accepts; asks for the ends, to see how far planners are behind"),
      topic(names.deadLetters, [.write], "writes what it cannot accept"),
      group(settings.intakeGroup, [.read], "shares the partitions; commits positions"),
      group(settings.plannerGroup, [.describe], "asks for the positions of planners"),
      lookUpOrders,
    ]
  }

  private var planner: [AccessRule] {
    [
      topic(names.log, [.read, .write], "plans the records; appends ticks and the first policy"),
      topic(names.state, [.read, .write], "restores and writes the state"),
      topic(names.decisions, [.write], "writes decisions"),
      topic(names.commands, [.write], "writes commands"),
      topic(names.deadLetters, [.write], "writes log records that it cannot plan"),
      group(settings.plannerGroup, [.read], "shares the partitions; commits positions"),
      lookUpOrders,
      AccessRule(
        AccessRule.Resource(.transactionalID, settings.plannerIDPrefix, isPrefix: true), [.write],
        "commits; ends the transactions of members that are gone"),
    ]
  }

  private var audit: [AccessRule] {
    [
      topic(names.decisions, [.read], "stores decisions"),
      topic(names.commands, [.read], "stores commands"),
      group(settings.auditGroup, [.describe], "asks for its coordinator, as every consumer of librdkafka does"),
      lookUpOrders,
    ]
  }

  private var gateway: [AccessRule] {
    (settings.gatewayTopic.map { [$0] } ?? settings.eventTopics).map { topic($0, [.write], "publishes events") } + [
      topic(
        names.devices, settings.gatewayReadsDevices ? [.read, .write] : [.write],
        settings.gatewayReadsDevices ? "registers and forgets devices; reads them" : "registers and forgets devices"),
      topic(
        names.signals, settings.gatewayReadsDevices ? [.read, .write] : [.write],
        settings.gatewayReadsDevices ? "publishes signals; reads those about looks and fetches" : "publishes signals"),
    ]
      + (settings.gatewayReadsDevices
        ? [group(settings.gatewayGroup, [.describe], "asks for its coordinator, as every consumer of librdkafka does")]
        : [])
  }

  /// The store is a file. The rest is for policies, dead letters and the page about health; where nobody is an operator, `write` can be left
  /// out.
  private var console: [AccessRule] {
    let changes =
      [topic(names.log, [.read, .write], "shows the policies in force; appends a policy that is applied")] + replay
    let looks = names.all.map {
      topic($0, [.read, .describeConfigs], "shows how far its readers are, and whether its settings are right")
    }
    let groups = [
      group(settings.intakeGroup, [.describe], "asks for the positions of intake"),
      group(settings.plannerGroup, [.describe], "asks for the positions of planners"),
      group(settings.readerGroup, [.describe], "asks for its coordinator, as every consumer of librdkafka does"),
    ]
    return Self.merged(changes + looks + groups)
  }

  private var check: [AccessRule] {
    names.all.map { name in
      let isRead = [names.devices, names.state].contains(name)
      return topic(
        name, isRead ? [.read, .describeConfigs] : [.describe, .describeConfigs],
        isRead ? "compares the settings; reads a sample" : "compares the settings")
    } + settings.eventTopics.map { topic($0, [.describe], "sees whether the topic exists") }
  }

  private var replay: [AccessRule] {
    [topic(names.deadLetters, [.read, .write], "reads letters; writes receipts")]
      + (settings.eventTopics + [names.devices, names.signals]).map {
        topic($0, [.read, .write], "gives records back; reads values that were too large for a letter")
      } + [
        AccessRule(AccessRule.Resource(.transactionalID, settings.replayID), [.write], "replays in transactions")
      ]
  }

  private var skip: [AccessRule] {
    let internals = [names.log, names.state, names.decisions, names.commands]
    return (settings.eventTopics + [names.devices, names.signals] + internals).map {
      topic($0, [.read], "looks at the place; gives the order")
    } + [group(settings.skipGroup, [.read], "gives the order, as a committed offset")]
  }

  // MARK: Rules

  private var names: TopicNames { settings.topics }

  private func topic(_ name: String, _ operations: Set<AccessRule.Operation>, _ purpose: String) -> AccessRule {
    AccessRule(AccessRule.Resource(.topic, name), operations, purpose)
  }

  private func group(_ name: String, _ operations: Set<AccessRule.Operation>, _ purpose: String) -> AccessRule {
    AccessRule(AccessRule.Resource(.group, name), operations, purpose)
  }

  /// The orders to pass over records.
  private var lookUpOrders: AccessRule {
    group(settings.skipGroup, [.describe], "asks for orders to pass over records")
  }
}
