import Auditing
import Domain
import Foundation
import JSON
import Keys
import Policies
import Serving
import Synchronization
import Testing

@testable import Console
@testable import Installation
@testable import Operating

@Suite("Pages") struct PagesTests {
  /// The most bytes of a page.
  static let bytesMax = 200_000

  /// The addresses of every page about things with an id.
  private static func addresses(_ id: Identifier, _ n: Int) -> [String] {
    [
      PageLink.device(id), PageLink.to(PageLink.device(id), adding: ["utc-offset": "+05:30"]), PageLink.event(id),
      PageLink.command("c-0-\(n)-0"), PageLink.why(device: id, event: id, instance: id), PageLink.why(device: id),
      PageLink.to("/search", ["q": id.text]), PageLink.to("/decisions", ["device": id.text]),
      PageLink.to("/decisions", ["kind": id.text, "event": id.text, "instance": id.text]),
      PageLink.to("/why", ["device": "phone", "event": id.text, "instance": id.text]),
      PageLink.to("/search", ["q": String(id.text.prefix(1))]),
    ]
  }

  private static let others = [
    "/", "/?hours=1", "/?hours=168", "/decisions", "/why", "/search", "/top", "/top?by=event", "/top?by=kind",
    "/policy",
    "/try", "/simulation", "/dead-letters", "/dead-letters?reason=%3Cb%3E", "/health", "/access",
    "/access?key=k&operation=devicePage&device=%3Cb%3E&event=e&refused=true&from=2013-03-08", "/sign-in",
    "/sign-in?next=/why%22%3E",
    "/devices/nobody", "/events/none",
    "/commands/c-9-9-9", "/why?device=nobody&event=none",
  ]

  @Test("no text of the store becomes markup, on any page, and every page is well made")
  func hostile() throws {
    let sample = try PageSample(PageSample.hostileBatch())
    for (n, text) in PageSample.hostile.enumerated() {
      for address in Self.addresses(text, n) { try check(sample, address) }
    }
    for address in Self.others { try check(sample, address) }
  }

  @Test("a page that is about nothing says so, and what is missing")
  func empty() throws {
    let sample = try PageSample(AuditBatch())
    for address in Self.others { try check(sample, address) }
    let overview = PageCheck(text(try sample.page("/")))
    #expect(overview.text.contains("The audit store is empty"))
    #expect(try sample.page("/devices/nobody").status == 404)
    let missing = try PageSample(nil)
    let problem = #expect(throws: Problem.self) { try missing.page("/") }
    #expect(problem?.kind == .unavailable)
  }

  @Test(
    "a page that waits for the brokers is asked for anew soon, with and without the script; one about the past never")
  func refreshed() throws {
    let sample = try PageSample(AuditBatch.small)
    for address in ["/", "/policy", "/try", "/dead-letters", "/health"] {
      let page = text(try sample.page(address))
      #expect(page.contains("<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>"), "\(address)")
      #expect(page.contains(" data-refresh=\"2\">") && page.contains("id=\"refresh-state\""), "\(address)")
    }
    for address in ["/why?device=phone&event=e1", "/events/e1", "/top"] {
      #expect(!text(try sample.page(address)).contains("refresh"), "\(address)")
    }
  }

  @Test("a hostile text is shown to people as it is, but for characters that nobody sees")
  func shown() throws {
    let sample = try PageSample(PageSample.hostileBatch())
    for text in PageSample.hostile {
      let page = PageCheck(self.text(try sample.page(PageLink.device(text))))
      #expect(page.text.contains(PageText.safe(text.text)), "\(text)")
    }
  }

  @Test("the pages of a busy device and a busy store stay small")
  func sizes() throws {
    var batch = AuditBatch()
    for n in 0..<600 {
      batch.append(
        PageSample.decision(
          n, event: "nyc-2013-03-08-\(n)", device: "device-0000059", verdict: n % 3 == 0 ? .emit : .defer,
          reason: n % 3 == 0 ? .emitted : .belowPrice, command: n % 3 == 0 ? "c-0-\(n)-0" : nil))
      if n % 3 == 0 {
        batch.append(
          PageSample.command(n, device: "device-0000059", kind: "FlightStatus", event: "nyc-2013-03-08-\(n)"))
      }
    }
    let sample = try PageSample(batch)
    for address in [
      "/", "/?hours=168", "/decisions", "/devices/device-0000059", "/why?device=device-0000059", "/top?by=event",
    ] {
      let bytes = try sample.page(address).body.count
      print("\(address): \(bytes) bytes")
      #expect(bytes <= Self.bytesMax, "\(address)")
    }
    for asset in [PageAsset.styleSheet, .script, .icon] {
      #expect(try sample.page(asset.path).body.count < 50_000)
    }
  }

  @Test(
    "a device with the most instances has a page for why that stays small, and each instance is explained on its own")
  func manyInstances() throws {
    var batch = AuditBatch()
    for n in 0..<64 {
      for step in 0..<40 {
        batch.append(
          PageSample.decision(
            n * 40 + step, event: "one", device: "big", instance: "instance-\(n)", verdict: .defer, reason: .belowPrice)
        )
      }
    }
    let sample = try PageSample(batch)
    let page = try sample.page("/why?device=big&event=one")
    let check = PageCheck(text(page))
    #expect(page.body.count <= Self.bytesMax && check.mistakes.isEmpty, "\(page.body.count) bytes, \(check.mistakes)")
    #expect(check.text.contains("64 instances: what happened to each") && check.text.contains("52 other instances"))
    #expect(check.text.contains("Step by step, the last 25 of 40"))
    let links = check.links.map(\.address).filter { $0.hasPrefix("/why?") && $0.contains("instance=") }
    #expect(Set(links).count == 52)
    #expect(PageCheck(text(try sample.page(try #require(links.first)))).text.contains("Step by step, the last 25"))
    let csv = text(try sample.page("/why?device=big&event=one&table=others"))
    #expect(csv.split(separator: "\r\n").count == 53)
  }

  @Test(
    "a page refuses names that it does not know, and values that mean nothing; the list of decisions has every filter of programs",
    arguments: [
      ("/decisions?vredict=emit", "did you mean verdict"), ("/decisions?final=banana", "expected true or false"),
      ("/decisions?reason=EMITED", "did you mean EMITTED"), ("/decisions?from=noon", "or 2013-07-04 12:00"),
      ("/devices/phone?limit=0", "known: from, to, utc-offset, table"), ("/?hour=1", "did you mean hours"),
      ("/events/e1?utc-offset=-05:00", "unknown"), ("/dead-letters?resaon=x", "did you mean reason"),
      ("/access?refused=yes", "expected true or false"),
    ])
  func names(_ address: String, _ words: String) throws {
    let sample = try PageSample(AuditBatch.small)
    let problem = try #require(throws: Problem.self) { try sample.page(address) }
    #expect(problem.kind == .queryRefused && problem.detail.contains(words), "\(problem.detail)")
  }

  @Test(
    "the list of decisions filters by surface, push and whether an event is closed; empty fields of a form are none")
  func filters() throws {
    let sample = try PageSample(AuditBatch.small)
    func rows(_ query: String) throws -> Int {
      text(try sample.page("/decisions?\(query)&table=decisions")).split(separator: "\r\n").count - 1
    }
    let all = try rows("verdict=&kind=&from=")
    let (closed, open) = (try rows("final=true"), try rows("final=false"))
    #expect(all > 0 && closed > 0 && closed + open == all)
    #expect(try rows("surface=widget") == all)
    #expect(try rows("surface=control") == 0)
    let pushed = try rows("command=c-0-1-0")
    #expect(pushed > 0 && pushed < all)
    let page = PageCheck(text(try sample.page("/decisions?surface=widget&final=true&command=c-0-1-0")))
    #expect(page.mistakes.isEmpty)
  }

  @Test("each page of the decisions can be taken along: its CSV has the same decisions, and later pages have no stream")
  func decisionPages() throws {
    var batch = AuditBatch()
    for n in 1...250 { batch.append(PageSample.decision(n, event: "e\(n)")) }
    let sample = try PageSample(batch)
    let first = PageCheck(text(try sample.page("/decisions?kind=FlightStatus")))
    func isOlder(_ address: String) -> Bool {
      address.hasPrefix("/decisions?") && address.contains("cursor=") && !address.contains("table=")
    }
    let older = try #require(first.links.last { isOlder($0.address) })
    let second = text(try sample.page(older.address))
    #expect(second.contains("/events/e150\"") && second.contains("/events/e51\"") && !second.contains("/events/e151\""))
    #expect(!second.contains("data-stream"))
    let page = PageCheck(second)
    let csv = try #require(page.links.last { $0.address.contains("table=decisions") })
    let lines = text(try sample.page(csv.address)).split(separator: "\r\n")
    #expect(lines.count == 151 && lines[1].contains("e150") && lines[150].contains("e1,"))
    let next = try #require(page.links.last { isOlder($0.address) })
    let last = text(try sample.page(next.address))
    #expect(last.contains("/events/e1\""))
  }

  @Test("an exact id leads to its page, and a beginning to a list")
  func search() throws {
    let sample = try PageSample(AuditBatch.small)
    #expect(try sample.page("/search?q=phone").location == "/devices/phone")
    #expect(try sample.page("/search?q=c-0-1-0").location == "/commands/c-0-1-0")
    #expect(try sample.page("/search?q=d-0-1-0").location == "/decisions/d-0-1-0")
    #expect(try sample.page("/decisions/d-0-1-0").location == "/why?device=phone&event=e1&instance=w1")
    #expect(try sample.page("/search?q=FlightStatus").location == "/decisions?kind=FlightStatus")
    let list = PageCheck(text(try sample.page("/search?q=ph")))
    #expect(list.links.contains { $0.address == "/devices/phone" })
    #expect(PageCheck(text(try sample.page("/search?q=nothing"))).text.contains("Nothing found"))
    // A device that is registered and had no decision.
    let registration = Registration(
      device: "silent", app: "a", environment: .production, platform: "iOS", osVersion: OSVersion(major: 26, minor: 1),
      timeZone: "Etc/UTC", tokens: .init(), updatedAt: PageSample.start)
    let knowing = try PageSample(
      AuditBatch.small, devices: StubDevices(found: .success(.init(registration: registration, ageSeconds: 1))))
    #expect(try knowing.page("/search?q=silent").location == "/devices/silent")
    let failing = try PageSample(AuditBatch.small, devices: StubDevices(found: .failure(.init("<no disk>"))))
    let failed = PageCheck(text(try failing.page("/search?q=silent"))).text
    #expect(failed.contains("Nothing found") && failed.contains("is registered is not known: <no disk>."))
  }

  @Test(
    "what is wrong with a query is said",
    arguments: [
      "/?hours=7", "/?hours=abc", "/decisions?verdict=maybe", "/decisions?reason=none", "/decisions?from=yesterday",
      "/devices/a?utc-offset=5",
      "/top?by=x", "/decisions?cursor=1",
    ])
  func refused(address: String) throws {
    let sample = try PageSample(AuditBatch.small)
    let problem = #expect(throws: Problem.self) { try sample.page(address) }
    #expect(problem?.kind == (address.hasPrefix("/decisions") ? .queryRefused : .malformedRequest))
  }

  @Test("the rate at which an error budget is spent is that of each window, and the drawing is of the last day")
  func burn() throws {
    var batch = AuditBatch()
    // Thirty changes an hour over 30 hours; those of every third hour were late, and of the last three. Of another kind, one.
    for n in 0..<30 {
      for minute in 0..<30 {
        var decision = PageSample.decision(n * 60 + minute, event: "e\(n)", kind: "Board")
        decision.objective = n % 3 == 0 || n > 26 ? .missed : .met
        batch.append(decision)
      }
    }
    var single = PageSample.decision(29 * 60 + 30, event: "e29", kind: "Rare")
    single.objective = .missed
    batch.append(single)
    let sample = try PageSample(batch)
    let policy = try PolicyDocument(
      yaml: ClusterTests.policy.replacing("FlightStatus", with: "Board").replacing(
        "    rules:", with: "    objective: { freshWithin: 10m, share: 0.5 }\n    rules:"), file: "p"
    ).policy
    let section = try ObjectivesSection(try sample.context.store(), policy, PageTime()).section
    let rows = try #require(section.tables.first?.rows)
    #expect(
      rows.prefix(4).map { $0.dropFirst(2).map(\.text) } == [
        ["last hour", "2", "0 %", "30", "30", "needs a look"], ["last 6 h", "1.333", "33.33 %", "120", "180", ""],
        ["last 24 h", "0.833", "58.33 %", "300", "720", ""], ["last 72 h", "0.8", "60 %", "360", "900", ""],
      ])
    #expect(rows[0].prefix(2).map(\.text) == ["Board", "50 % within 10 min"])
    // The numbers of late changes lead to just these.
    for (row, count) in zip(rows, [30, 100, 100, 100]) {
      let link = try #require(row[5].link)
      #expect(text(try sample.page(link)).matches(of: #/<a href="\/why\?/#).count == count, "\(link)")
    }
    #expect(rows[0][3].tone == .bad && rows[2][3].tone == .good)
    #expect(section.figures.first?.drawing.text.contains("Board: 83 %") == true)
    let alarms = try ObjectivesSection(try sample.context.store(), policy, PageTime()).alarms
    #expect(
      alarms.map { $0.map(\.text).joined() } == [
        "Board spends its error budget too fast: at a rate of 2 over the last hour. At 1 it just lasts."
      ])
    #expect(alarms.first?.first?.link == rows[0][5].link)
    let unknown = try ObjectivesSection(try sample.context.store(), nil, PageTime()).section
    #expect(unknown.figures.isEmpty && unknown.tables.first?.rows.first?[4].text == "0 %")
    #expect(text(try sample.page("/")).contains("have not told the policy in force"))
  }

  @Test("the numbers of events and devices agree with the lists that they lead to, also when the hours have fewer")
  func numbers() throws {
    var batch = AuditBatch()
    for n in 0..<40 { batch.append(PageSample.decision(n * 60, event: "e\(n)", device: "d\(n % 7)")) }
    let sample = try PageSample(batch)
    for (hours, events, devices) in [(6, 6, 6), (24, 24, 7)] {
      let overview = PageCheck(text(try sample.page("/?hours=\(hours)")))
      for (key, name, count) in [("event", "Events", events), ("device", "Devices", devices)] {
        let words = "\(name) \(count) with a decision in these hours"
        #expect(overview.text.contains(words), "\(overview.text)")
        let link = try #require(overview.links.first { $0.address.hasPrefix("/top?by=\(key)&from=") })
        let list = PageCheck(text(try sample.page(link.address))).text
        #expect(list.contains("\(count) \(key)s with \(hours) decisions"), "\(list)")
      }
      #expect(overview.text.contains("Lag – the brokers are being asked"))
    }
    for n in 40..<3_000 {
      batch.append(PageSample.decision(n * 60, event: "e\(n)", device: "d\(n % 7)", minute: 2_400))
    }
    let overview = PageCheck(text(try PageSample(batch).page("/?hours=24"))).text
    #expect(overview.contains(/Events about [23],\d\d\d with a decision/), "\(overview)")
    #expect(overview.contains("Devices 7 with a decision in these hours"))
  }

  @Test("each number of the overview, of an event and of a list leads to as many decisions")
  func linkedNumbers() throws {
    var batch = AuditBatch()
    for n in 0..<48 {
      let (hour, isSent) = (n / 2, n % 3 != 0)
      batch.append(
        PageSample.decision(
          hour * 60 + n % 2, event: n % 4 == 0 ? "e" : "e\(n)", kind: n < 24 ? "A" : "B",
          verdict: isSent ? .emit : .suppress, reason: isSent ? .emitted : .expired))
    }
    let sample = try PageSample(batch)
    func decisions(_ address: String) throws -> Int {
      let csv = address + (address.contains("?") ? "&" : "?") + "table=decisions"
      return text(try sample.page(csv)).split(separator: "\r\n").count - 1
    }
    func links(_ address: String, _ parts: String...) throws -> [String] {
      let page = PageCheck(text(try sample.page(address)))
      #expect(page.mistakes.isEmpty, "\(page.mistakes)")
      return page.links.map(\.address).filter { link in
        link.hasPrefix("/decisions?") && parts.allSatisfy { link.contains($0) }
      }
    }
    // The last six hours only.
    #expect(try links("/?hours=6", "kind=B&verdict=emit&from=").map(decisions) == [8])
    #expect(try links("/?hours=6", "kind=B&verdict=suppress&from=").map(decisions) == [4])
    #expect(try links("/?hours=6", "verdict=emit&from=", "&to=").map(decisions).reduce(0, +) == 8)
    #expect(try links("/?hours=6", "verdict=suppress&from=", "&to=").map(decisions).reduce(0, +) == 4)
    #expect(try links("/?hours=6", "reason=EXPIRED&from=").map(decisions) == [4])
    let range = "from=2013-03-08T12:00:00Z&to=2013-03-08T13:00:00Z"
    #expect(try links("/top?by=reason&\(range)", "reason=EMITTED&\(range)").map(decisions) == [1])
    #expect(try links("/top?by=event&\(range)", "event=e&\(range)").map(decisions) == [1])
    let devices = PageCheck(text(try sample.page("/top?by=device&\(range)"))).links
    #expect(devices.contains { $0.address == "/devices/phone?\(range)" })
    #expect(try decisions(links("/events/e", "event=e").first ?? "") == 12)
    #expect(try links("/events/e", "event=e&verdict=", "&from=").map(decisions).reduce(0, +) == 12)
  }

  @Test("the marks of a chart over midnight have the date, and no two of them are the same")
  func marks() throws {
    var batch = AuditBatch()
    for n in 0..<168 { batch.append(PageSample.decision(n * 60, event: "e\(n)")) }
    let sample = try PageSample(batch)
    func marks(_ hours: Int) throws -> [Substring] {
      let chart = HourChart.drawing(try sample.context.store().activity(hours: hours), PageTime()).text
      return chart.components(separatedBy: "text-anchor=\"middle\" class=\"label\">").dropFirst().map {
        $0.prefix { $0 != "<" }
      }
    }
    let week = try marks(168)
    #expect(week.count == 7 && Set(week).count == 7 && week.first == "2013-03-09" && week.last == "2013-03-15")
    let day = try marks(24)
    #expect(day.prefix(3) == ["03-14 12:00", "14:00", "16:00"] && day.contains("2013-03-15"))
    #expect(day.count == 12 && Set(day).count == 12)
    // An axis in the zone of a device, over the change to summer time.
    var svg = SVGWriter(id: "a", width: 900, height: 50, title: "", details: "")
    let first = PageSample.start + .hours(24)
    let zone = try #require(PageTime(region: "America/New_York"))
    TimeAxis(first, first + .hours(48), left: 0, right: 900).draw(&svg, top: 0, bottom: 40, zone)
    for mark in [">03-09 12:00<", ">2013-03-10<", ">06:00<", ">2013-03-11<"] {
      #expect(svg.markup.text.contains(mark), "\(mark): \(svg.markup.text)")
    }
  }

  @Test("a form keeps the filters that its page has, and the CSV of an explanation is that of its instance and kind")
  func keptFilters() throws {
    var batch = AuditBatch.small
    batch.append(PageSample.decision(2, instance: "w2"))
    let sample = try PageSample(batch)
    let list = text(try sample.page("/decisions?instance=w2&kind=FlightStatus"))
    #expect(list.contains("name=\"instance\" type=\"text\" value=\"w2\""))
    let why = text(try sample.page("/why?device=phone&event=e1&kind=FlightStatus"))
    #expect(why.contains("name=\"kind\" type=\"text\" value=\"FlightStatus\""))
    let csv = PageCheck(why).links.map(\.address).filter { $0.hasPrefix("/v1/why?format=csv") }
    #expect(
      csv == ["w1", "w2"].map { "/v1/why?format=csv&device=phone&event=e1&instance=\($0)&kind=FlightStatus" })
  }

  @Test("the page of an event leads to a template of it, which is to be completed")
  func tryEvent() throws {
    let sample = try PageSample(PageSample.hostileBatch())
    for (n, id) in PageSample.hostile.enumerated() {
      let page = PageCheck(text(try sample.page(PageLink.event(id))))
      let link = try #require(page.links.first { $0.address.hasPrefix("/try?event=") }, "\(n)")
      let template = PageCheck(text(try sample.page(link.address)))
      #expect(template.mistakes.isEmpty && template.text.contains("complete what the template lacks"), "\(n)")
      let start = try #require(template.text.firstRange(of: "{\n  \"specversion\"")).lowerBound
      let end = try #require(template.text[start...].firstRange(of: "\n}")).upperBound
      let event = try JSONValue(parsing: String(template.text[start..<end]))
      #expect(event["id"] == .string(id.text) && event["source"] == .string(""), "\(n)")
    }
    let unknown = PageCheck(text(try sample.page("/events/none")))
    #expect(unknown.links.contains { $0.address == "/try?event=none" })
  }

  @Test("the page about health has the roles of the process, the reasons why one is not ready, and the restores")
  func process() throws {
    func page(_ process: ConsoleProcess?) throws -> PageCheck {
      let sample = try PageSample(AuditBatch.small) { $0.process = process }
      let page = PageCheck(text(try sample.page("/health")))
      #expect(page.mistakes.isEmpty && page.text.contains("/status"), "\(page.mistakes)")
      return page
    }
    #expect(!(try page(nil).text.contains("Roles and their threads")))
    let running = try page(
      ConsoleProcess {
        ConsoleProcess.RunningState(
          roles: [
            .init(.intake, threadCount: 1, notReady: ["intake thread 0 has not started"]),
            .init(
              .planner, threadCount: 2, notReady: ["the state of log partition 2 is being read"],
              oldestTurn: PageSample.start.microseconds - 3_000_000),
            .init(.console),
          ],
          partitions: [
            .init(number: 2, state: "restoring", devices: 0),
            .init(
              number: 4, state: "planning", devices: 1_234,
              restore: .init(isUnderWay: false, source: "snapshot", seconds: 1.25)),
          ])
      })
    for part in [
      "intake1nointake thread 0 has not started", "planner2nothe state of log partition 2 is being read3",
      "console–yes–", "2restoring0–not yet–", "4planning1,234–local snapshot, and the topic behind it1.25",
    ] {
      #expect(running.text.replacing("\n", with: "").contains(part), "\(part): \(running.text)")
    }
    let other = try page(ConsoleProcess { ConsoleProcess.RunningState(roles: [.init(.console)]) })
    #expect(other.text.contains("Roles and their threads") && !other.text.contains("Log partitions of this process"))
  }

  @Test("every table can be had as CSV: all rows, plain numbers, and no formula")
  func csv() throws {
    var batch = AuditBatch()
    for n in 0..<130 {
      batch.append(PageSample.decision(n * 2, event: "e", device: "=d\(n)", instance: "@w", kind: "-k,\(n)"))
    }
    let sample = try PageSample(batch)
    func csv(_ address: String) throws -> [Substring] {
      let answer = try sample.page(address)
      #expect(answer.headers.contains { $0.name == "content-disposition" && $0.value.hasPrefix("attachment") })
      return text(answer).split(separator: "\r\n")
    }
    let minutes = try csv("/events/e?table=minutes")
    #expect(minutes.count == 131 && minutes[0].hasPrefix("\"Minute, UTC\",emit,"))
    #expect(minutes[1] == "2013-03-08 12:00:00,1,0,0,0")
    let kinds = try csv("/?hours=72&table=kinds")
    #expect(kinds.count == 131 && kinds.contains { $0.hasPrefix("\"'-k,7\",1,0") }, "\(kinds)")
    let reasons = try csv("/?table=reasons")
    #expect(reasons == ["Reason,Verdict,Decisions,Share", "EMITTED,emit,130,1.0"], "\(reasons)")
    let problem = #expect(throws: Problem.self) { try sample.page("/?table=nothing") }
    #expect(problem?.kind == .notFound)
    let form = "policy=versionn%3A+1&table=mistakes"
    #expect(text(try sample.page("/policy", method: "POST", body: form)).hasPrefix("Place,Value,Message\r\n\"line 1"))
  }

  @Test(
    "the CSV of decisions, a timeline and a statement has every row of the range once, newest first, however many there are"
  )
  func longTables() throws {
    let (decisions, pushes) = (2_300, 1_150)
    var batch = AuditBatch()
    for n in 0..<decisions {
      batch.append(PageSample.decision(n, event: "e\(n)"))
      if n % 2 == 0 {
        batch.append(PageSample.command(n, kind: "FlightStatus", event: "e\(n)", id: "c-0-\(n)-0", left: decisions - n))
      }
    }
    let sample = try PageSample(batch)
    func rows(_ address: String) throws -> [[Substring]] {
      let answer = try sample.page(address)
      #expect(answer.stream != nil && answer.contentType == AnswerForm.csv.contentType)
      return text(answer).split(separator: "\r\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    }
    func place(of name: Substring, _ rows: [[Substring]]) throws -> Int { try #require(rows[0].firstIndex(of: name)) }
    for (table, expected) in [("timeline", decisions + pushes), ("accounts", pushes * 2), ("account-1", pushes)] {
      let all = try rows("/devices/phone?table=\(table)")
      let at = try place(of: "at", all)
      #expect(all.count == 1 + expected, "\(table)")
      #expect(zip(all.dropFirst(), all.dropFirst(2)).allSatisfy { $0[at] >= $1[at] }, "\(table)")
      #expect(Set(all.map { $0.joined(separator: ",") }).count == all.count, "\(table)")
      // The page itself lists only some, and of a range the CSV has no more than its rows.
      #expect(try rows("/devices/phone?from=2013-03-08T13:00:00Z&to=2013-03-08T13:10:00Z&table=\(table)").count < 25)
    }
    let charges = try rows("/devices/phone?table=account-1")
    #expect(charges.dropFirst().allSatisfy { $0[1] == "w1" })
    let (owner, left, change) = (
      try place(of: "owner", charges), try place(of: "left", charges), try place(of: "change", charges)
    )
    let line = charges.dropFirst().filter { $0[owner] == "w1" }
    #expect(line.count == pushes && line.first?[left] == "2" && line.last?[left] == "\(decisions)")
    // Also where one part ends and the next begins, the change is that since the charge before.
    #expect(line.dropLast().allSatisfy { $0[change] == "-1" } && line.last?[change] == "0")
    #expect(try rows("/decisions?kind=FlightStatus&table=decisions").count == 1 + decisions)
    #expect(sample.context.readers.exports.load(ordering: .relaxed) == 0)
  }

  @Test("a policy is checked with every mistake in its place, and only an operator may apply one")
  func policy() throws {
    let sample = try PageSample(AuditBatch.small)
    let form = "policy=versionn%3A+1%0D%0Akinds%3A%0D%0A++A%3A+%7Bsurface%3A+nowhere%7D"
    let page = PageCheck(text(try sample.page("/policy", method: "POST", body: form)))
    #expect(page.mistakes.isEmpty && page.text.contains("Not valid"), "\(page.mistakes)")
    #expect(page.text.contains("line 1, column 1") && page.text.contains("kinds.A.surface"))
    let valid =
      "policy=version%3A+a%0Akinds%3A%0A++A%3A%0A++++surface%3A+widget%0A++++rules%3A%0A++++++-+event%3A+b%0A++++++++relevance%3A+%7B+base%3A+1+%7D%0A++++++++interests%3A+%5B%22%7Bsubject%7D%22%5D"
    var viewer = Viewer(key: "k", roles: [.auditor])
    let checked = PageCheck(text(try sample.page("/policy", method: "POST", body: valid, viewer: viewer)))
    #expect(checked.text.contains("Valid") && checked.text.contains("A key with the role operator can apply it"))
    #expect(try ConsoleRoute.find(method: "POST", path: "/policy/apply").route.role == .operator)
    viewer.roles = [.operator]
    #expect(text(try sample.page("/policy", method: "POST", body: valid, viewer: viewer)).contains("Apply a<"))
  }

  @Test("the policy that is applied is the one that was checked, to the last character")
  func unseenCharacters() throws {
    let sample = try PageSample(AuditBatch.small)
    let policy =
      ClusterTests.policy
      + "# a\u{200d}b \u{200e}c\u{202e}d\u{ad} \"\u{301} <b>&amp;'\u{600}\"\u{20dd}</textarea>\n"
    let answer = try sample.page("/policy", method: "POST", body: "policy=\(PageLink.escaped(policy))")
    let page = PageCheck(text(answer))
    #expect(page.mistakes.isEmpty, "\(page.mistakes)")
    let applied = try #require(page.hidden["policy"])
    #expect(applied.unicodeScalars.elementsEqual(policy.unicodeScalars))
    let checked = try PolicyDocument(yaml: policy, file: "policy.yaml").policy.reference
    #expect(try PolicyDocument(yaml: applied, file: "policy.yaml").policy.reference == checked)
    #expect(page.text.contains("hash \(checked.hash)"))
    // The text area has the same text; only what is merely shown is changed.
    #expect(page.text.unicodeScalars.contains("\u{202e}"))
  }

  @Test("an event is tried on a policy: the rule that matches, the keys, and the fields that others miss")
  func attempt() throws {
    let sample = try PageSample(AuditBatch.small)
    let policy = """
      version: a
      kinds:
        Flights:
          surface: widget
          rules:
            - event: flight.*
              when: [{ field: data.delay, atLeast: 30 }]
              relevance: { base: 1 }
            - event: flight.delayed
              relevance: { base: 0.5 }
              interests: ["{subject}", "airport/{data.origin}"]
      """
    func attempt(_ event: String) throws -> PageCheck {
      let body = "event=\(PageLink.escaped(event))&policy=\(PageLink.escaped(policy))"
      let page = PageCheck(text(try sample.page("/try", method: "POST", body: body)))
      #expect(page.mistakes.isEmpty, "\(page.mistakes)")
      return page
    }
    let event =
      #"{"specversion":"1.0","id":"1","source":"/s","type":"flight.delayed","subject":"flight/<b>","data":{"delay":5}}"#
    let page = try attempt(event)
    for part in [
      "Rule 2 matches", "flight/<b>", "the event lacks data.origin", "data.delay at least 30; the event has 5",
      "relevance is 0.5",
    ] {
      #expect(page.text.contains(part), "\(part)")
    }
    #expect(page.text.contains("console.devicesView") && page.text.contains("gateway.devicesView"))
    let asked = Mutex<[[String]]>([])
    for (outcome, words) in [
      (
        Result<ListeningCounts, ListeningDevicesError>.success(.init(kinds: [1_234], devices: 1_234, ageSeconds: 7)),
        "It would reach 1,234 devices, by the registrations as they were 7 s ago"
      ),
      (.success(.init(kinds: [1], devices: 1, ageSeconds: 0)), "1 device has an instance of this kind"),
      (
        .success(.init(kinds: [0], devices: 0, ageSeconds: nil)),
        "not known yet: the copy of the registrations is being filled"
      ),
      (.failure(ListeningDevicesError("<no disk>")), "is not known: <no disk>."),
    ] {
      let counting = try PageSample(
        AuditBatch.small,
        devices: StubDevices(answer: { groups in
          asked.withLock { $0 = groups.map { [$0.kind] + $0.keys } }
          return outcome
        }))
      let body = "event=\(PageLink.escaped(event))&policy=\(PageLink.escaped(policy))"
      let page = PageCheck(text(try counting.page("/try", method: "POST", body: body)))
      #expect(page.mistakes.isEmpty && page.text.contains(words), "\(words)")
      #expect(asked.withLock { $0 } == [["Flights", "flight/<b>"]])
    }
    #expect(try attempt(event.replacing("flight.delayed", with: "<i>")).text.contains("No rule matches"))
    #expect(try attempt("{").text.contains("Not accepted"))
    #expect(try attempt(#"{"specversion":"1.0","id":"1"}"#).text.contains("MISSING_FIELD"))
  }

  @Test("a report of a simulation shows the baselines beside the policy, and any other text is told from one")
  func simulation() throws {
    let sample = try PageSample(AuditBatch.small)
    func show(_ report: String) throws -> PageCheck {
      // As a browser sends a form with a file.
      let body =
        "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nt\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\\\"<b>.json\"\r\nContent-Type: application/json\r\n\r\n\(report)\r\n--b--\r\n"
      let type = ("content-type", "multipart/form-data; boundary=b")
      let given = try sample.page("/simulation", method: "POST", body: body, headers: [type])
      let pasted = try sample.page("/simulation", method: "POST", body: "report=\(PageLink.escaped(report))")
      #expect(given.status == pasted.status && given.location == pasted.location)
      let answer = try given.location.map { try sample.page($0) } ?? pasted
      let page = PageCheck(text(answer))
      #expect(page.mistakes.isEmpty, "\(page.mistakes)")
      return page
    }
    let page = try show(
      """
      {"events":600,"sharedLimits":[{"plan":"mine","ofUpperBoundMean":0.86}],"policies":[{"name":"<b>","decisions":492}],"kinds":[{"kind":"<i>","instances":2,"plans":[
        {"plan":"first come","isPolicy":false,"wrongLooks":{"capturedMean":0.5}},
        {"plan":"mine","isPolicy":true,"wrongLooks":{"capturedMean":0.98,"perDay":0.6},"reloads":13}]}]}
      """)
    for part in ["<b>", "<i>", "98 %", "492", "neither quiet", "86 %"] { #expect(page.text.contains(part)) }
    #expect(
      page.text.firstRange(of: "mine")?.lowerBound ?? page.text.endIndex < page.text.firstRange(of: "first come")?
        .lowerBound ?? page.text.startIndex)
    #expect(try show("{}").text.contains("Not a report") && show("{").text.contains("is not JSON"))
    #expect(try show(#"{"kinds":[{"plans":[7]},8],"policies":[9]}"#).text.contains("policy"))
    let csv = try sample.page("\(page.links.first { $0.address.contains("table=kind-1") }?.address ?? "")")
    #expect(
      text(csv).hasPrefix("Plan,Wrong looks captured,") && text(csv).contains("\r\nmine,0.98,0.6,"), "\(text(csv))")
    for n in 0..<ReportStore.reportsMax { _ = try show(#"{"kinds":[],"policies":[\#(n)]}"#) }
    #expect(sample.context.reports.all.count == ReportStore.reportsMax)
    let problem = #expect(throws: Problem.self) {
      try sample.page(
        page.links.first { $0.address.hasPrefix("/simulation/") && $0.address.contains("table=") }?.address ?? "")
    }
    #expect(problem?.kind == .notFound)
    for body in [
      "", "--b", "--b\r\n\r\n", "--b\r\nContent-Disposition: form-data; name=\"x\r\n\r\ny\r\n--b--",
      "--b\r\nX: y\r\n\r\nz",
    ] {
      #expect(throws: Problem.self, "\(body)") { try MultipartForm.read(Array(body.utf8), boundary: "b") }
    }
    #expect(MultipartForm.boundary(of: "multipart/form-data; boundary=\"--x\"") == "--x")
    #expect(MultipartForm.boundary(of: "multipart/form-data") == nil)
  }

  /// Checks one page: that it is well made, that its headers keep scripts out, and that its links lead to routes.
  private func check(_ sample: PageSample, _ address: String) throws {
    let answer = try sample.page(address)
    if answer.status == 303 { return try check(sample, try #require(answer.location)) }
    let page = PageCheck(text(answer))
    #expect(page.mistakes.isEmpty, "\(address): \(page.mistakes.prefix(5))")
    #expect(
      answer.headers.contains { $0.name == "content-security-policy" && $0.value.hasPrefix("default-src 'none'; ") })
    #expect(answer.headers.contains { $0.name == "cache-control" && $0.value == "no-store" })
    for (method, link) in page.links {
      if link.contains("table=") {
        let csv = try sample.page(link)
        #expect(csv.contentType == AnswerForm.csv.contentType && csv.body.contains(10), "\(link)")
        continue
      }
      let path = String(link.prefix { $0 != "?" && $0 != "#" })
      #expect(throws: Never.self, "\(address) leads to \(link)") { try ConsoleRoute.find(method: method, path: path) }
    }
  }

  func text(_ answer: HTTPAnswer) -> String { String(decoding: answer.body, as: UTF8.self) }
}

/// Registrations that answer as a test says.
struct StubDevices: ListeningDevices {
  var shows: Result<ShownInstances, ListeningDevicesError> = .failure(.init("not asked"))
  var found: Result<FoundRegistration, ListeningDevicesError> = .success(.init(registration: nil, ageSeconds: 0))
  var looks: Result<[Signal], ListeningDevicesError> = .success([])
  var answer: @Sendable ([(kind: String, keys: [String])]) -> Result<ListeningCounts, ListeningDevicesError> = { _ in
    .failure(.init("not asked"))
  }

  func count(_ groups: [(kind: String, keys: [String])]) throws(ListeningDevicesError) -> ListeningCounts {
    try answer(groups).get()
  }

  func shown() throws(ListeningDevicesError) -> ShownInstances { try shows.get() }
  func find(_ device: Identifier) throws(ListeningDevicesError) -> FoundRegistration { try found.get() }
  func registrations(
    of devices: [Identifier]
  ) throws(ListeningDevicesError) -> (registrations: [Registration], ageSeconds: Int?) {
    let known = try found.get()
    return ([known.registration].compactMap(\.self).filter { devices.contains($0.device) }, known.ageSeconds)
  }
  func signals(
    of device: Identifier, from: Timestamp?, to: Timestamp?
  ) throws(ListeningDevicesError) -> [Signal] {
    let (from, to) = (from ?? .distantPast, to ?? .distantFuture)
    return try looks.get().filter { $0.device == device && $0.time >= from && $0.time < to }
  }
}

extension HTTPAnswer {
  /// The address that the answer leads to.
  fileprivate var location: String? { headers.first { $0.name == "location" }?.value }
}

extension AuditBatch {
  /// One decision that was sent and one that waited.
  static var small: AuditBatch {
    var batch = AuditBatch()
    batch.append(PageSample.decision(0, event: "e0", verdict: .defer, reason: .minInterval))
    batch.append(PageSample.decision(1, command: "c-0-1-0"))
    batch.append(PageSample.command(1, kind: "FlightStatus", event: "e1"))
    return batch
  }
}
