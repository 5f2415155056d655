import Auditing
import Domain
import Installation
import KafkaClient
import Keys
import Operating
import Serving

/// The page of the installation's health: the store, the roles of the processes, the readers and their lag, the topics.
struct HealthPage {
  /// The most partitions that a table lists, and the most starts of Live Activities that are looked at.
  /// - Beyond: partitions are in the CSV alone; of the starts, the oldest are left out.
  static let rowsMax = 200

  /// Returns the page.
  static func answer(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let view = try context.clusterView()
    var sections = [PageSection]()
    do throws(Problem) {
      sections.append(try section(context.store(), context))
    } catch {
      sections.append(PageSection(heading: "Audit store", paragraphs: [[PageCell(error.detail, tone: .bad)]]))
    }
    sections.append(
      ProcessSection.section(context.settings.process, knowsOthers: context.processes != nil, context.now()))
    var isWaiting = view == nil
    if let processes = context.processes {
      let others = processes.view()
      isWaiting = isWaiting || others == nil
      sections.append(OtherProcessesSection.section(others, context.now()))
    }
    sections.append(ClusterView.state(view, context.now()))
    if let facts = view?.facts { sections += [progress(facts), topics(facts)] }
    var page = ConsolePage(
      title: "Health", area: .health,
      lead: ["What the store and the brokers tell. rouse doctor looks at more, and says what to do."],
      sections: sections)
    if request.viewer.may(.operator) {
      page.lead += [" Operators can see ", PageCell("who asked and who changed what", link: AccessPage.path), "."]
    }
    page.refreshSeconds = isWaiting ? ClusterView.retrySeconds : 30
    return try page.answer(request)
  }

  private static func section(_ store: AuditStore, _ context: ConsoleContext) throws(Problem) -> PageSection {
    do throws(AuditError) {
      let health = try store.health()
      let week = health.times.map { Timestamp(microseconds: $0.upperBound) - .hours(Int64(StoreActivity.hoursMax)) }
      let started = try store.zombies(range: TimeRange(from: week), limit: rowsMax)
      context.namesDevices = !started.zombies.isEmpty
      let time = PageTime()
      var section = PageSection(heading: "Audit store")
      section.facts = [
        ("Oldest record", [PageCell(health.times.map { time.text(Timestamp(microseconds: $0.lowerBound)) } ?? "none")]),
        ("Newest record", [PageCell(health.times.map { time.text(Timestamp(microseconds: $0.upperBound)) } ?? "none")]),
        ("Size", [PageCell("\(Figure.grouped(try store.bytesUsed())) bytes")]),
        (
          "Records that are missing for good",
          [
            PageCell(Figure.grouped(Int64(health.recordsMissing)), tone: health.recordsMissing > 0 ? .bad : .good)
          ]
        ),
      ]
      var holes = PageTable(
        name: "holes", caption: "Records that the store will never have",
        columns: ["Place", "#Records", "Cause", "Reason"],
        empty: "No record is missing.", csv: PageLink.to("/v1/health", ["format": "csv"]))
      holes.rows = health.holes.map { hole in
        [
          PageCell("\(hole.topic.rawValue)[\(hole.partition)]@\(hole.first)\(hole.line.map { " line \($0)" } ?? "")"),
          .number(hole.records), PageCell(hole.cause.rawValue), PageCell(hole.reason),
        ]
      }
      var open = PageTable(
        name: "zombies",
        caption:
          "Live Activities of the last week that a push started and no push can end\(started.omitted > 0 ? ", among the newest \(rowsMax) starts" : "")",
        columns: ["Device", "Kind", "Subject", "Since, UTC", "Push", "Cause"],
        empty: "Every Live Activity that a push started can be ended.",
        csv: PageLink.to(
          "/v1/live-activities/zombies", ["format": "csv", "limit": "\(rowsMax)", "from": week.map(Figure.time)]))
      open.rows = started.zombies.map { zombie in
        [
          PageCell(zombie.device.text, link: PageLink.device(zombie.device)), PageCell(zombie.kind.text),
          PageCell(zombie.subject.text), PageCell(time.text(zombie.since)),
          PageCell(zombie.command.text, link: PageLink.command(zombie.command)), PageCell(zombie.cause.text),
        ]
      }
      section.tables = [holes, open]
      return section
    } catch {
      throw Problem(.unavailable, "the audit store cannot be read: \(error)")
    }
  }

  private static func progress(_ facts: ClusterFacts) -> PageSection {
    var table = PageTable(
      name: "lag", caption: "Partitions and their readers",
      columns: ["Partition", "Role", "#Next", "#End", "#Waiting", "#Lost"],
      empty: "No topic that a role reads exists yet.",
      csv: PageLink.to("/v1/lag", ["format": "csv"]), shownMax: rowsMax)
    table.rows = facts.progress.map { progress in
      let unknown = PageCell("not known", isNumber: true)
      let next = progress.next.map { PageCell.number(Int($0)) } ?? PageCell("none yet", isNumber: true)
      return [
        PageCell("\(progress.partition)"), PageCell(progress.role.rawValue), progress.isKnown ? next : unknown,
        .number(Int(progress.high)), progress.isKnown ? .number(Int(progress.waiting)) : unknown,
        progress.isKnown
          ? PageCell(Figure.grouped(progress.lost), tone: progress.lost > 0 ? .bad : nil, isNumber: true) : unknown,
      ]
    }
    let waiting = facts.waiting
    let unknown = facts.progress.count { !$0.isKnown }
    return PageSection(
      heading: "Lag",
      paragraphs: [
        [
          PageCell(
            "\(Figure.grouped(waiting)) records wait for their readers, markers of transactions included\(unknown > 0 ? "; not known for \(Figure.count(unknown, "partition"))" : ""). \(Figure.count(facts.brokers, "broker"))."
          )
        ]
      ], tables: [table])
  }

  private static func topics(_ facts: ClusterFacts) -> PageSection {
    var topics = PageTable(
      name: "topics", caption: "Topics", columns: ["Topic", "#Partitions"],
      empty: "No topic of Rouse exists yet: rouse topics create makes them.",
      csv: PageLink.to("/v1/topics", ["format": "csv"]))
    topics.rows = facts.topics.keys.sorted().map { name in
      [PageCell(name), .number(facts.topics[name]?.partitions.count ?? 0)]
    }
    var problems = PageTable(
      name: "differences", caption: "Differences from the plan", columns: ["Topic", "What", "Expected", "Found"],
      empty: "The topics are as planned.")
    problems.rows = facts.problems.map {
      [PageCell($0.topic), PageCell($0.what), PageCell($0.expected), PageCell($0.found)]
    }
    return PageSection(heading: "Topics", tables: [topics, problems])
  }
}
