import Auditing
import Domain
import Foundation
import Serving
import Testing

@testable import Console

/// The pages about one device: its own, and the one that says why.
extension PagesTests {
  @Test("on the timeline, what was sent is drawn over what went along with it at the same instant")
  func sentOnTop() throws {
    let entries: [AuditEntry] = [
      .decision(PageSample.decision(1)), .decision(PageSample.decision(2, verdict: .coalesce, minute: 1)),
    ]
    for entries in [entries, entries.reversed()] {
      let drawing = try #require(TimelineChart.drawing(entries, [], PageTime())).text
      let sent = try #require(drawing.firstRange(of: "class=\"emit\""))
      #expect(try #require(drawing.firstRange(of: "class=\"coalesce\"")).upperBound < sent.lowerBound)
    }
  }

  @Test("the bank statement and the burn-down name the same tokens")
  func statement() throws {
    let sample = try PageSample(AuditBatch.small)
    let page = PageCheck(text(try sample.page("/devices/phone?utc-offset=-05:00")))
    #expect(page.text.contains("UTC-5") && page.text.contains("2013-03-08 07:01:00"))
    #expect(page.text.contains("From 40 before the first charge at 2013-03-08 07:01:00"))
    #expect(page.text.contains("Opening"))
  }

  @Test(
    "the page of a device has what is registered, the state of each token and no token, at the offset of its time zone")
  func registered() throws {
    let secret = "5ec4e75ec4e7"
    var registration = Registration(
      device: "phone", app: "<b>app", environment: .production, platform: "iOS",
      osVersion: OSVersion(major: 26, minor: 1),
      timeZone: "America/New_York", tokens: .init(widgets: secret), updatedAt: PageSample.start)
    registration.widgets = [
      .init(id: "w1", kind: "FlightStatus", family: "systemSmall", interests: ["flight/<i>"]),
      .init(id: "w2", kind: "Board", pushEnabled: false, interests: (1...9).map { "k\($0)" }),
    ]
    registration.controls = [.init(id: "c1", kind: "Gate", token: secret, interests: [])]
    registration.activities = [
      .init(id: "a1", kind: "Live", address: .channel("ch"), interests: ["x"], startedAt: PageSample.start)
    ]
    registration.pushToStart = [.init(kind: "Live", token: secret, interests: [])]
    var batch = AuditBatch.small
    batch.append(PageSample.decision(2, instance: "c1", kind: "Gate", verdict: .suppress, reason: .tokenDead))
    batch.append(PageSample.decision(3, event: "e9", instance: "gone"))
    func page(_ found: Result<FoundRegistration, ListeningDevicesError>, _ address: String = "/devices/phone") throws
      -> (page: PageCheck, rows: [Substring])
    {
      let sample = try PageSample(batch, devices: StubDevices(found: found))
      let page = PageCheck(text(try sample.page(address)))
      #expect(page.mistakes.isEmpty && !page.text.contains(secret), "\(page.mistakes)")
      let csv = text(try sample.page(address + (address.contains("?") ? "&" : "?") + "table=instances"))
      #expect(!csv.contains(secret))
      return (page, csv.split(separator: "\r\n"))
    }
    let (known, rows) = try page(.success(.init(registration: registration, ageSeconds: 7)))
    for part in [
      "as it was 7 s ago", "<b>app, production", "iOS 26.1", "Time zoneAmerica/New_York",
      "Registered2013-03-08 07:00:00 UTC-5 (2013-03-08 12:00:00 UTC)",
      "2013-03-08 07:01:00", "flight/<i>", "and 5 more", "dead, at 2013-03-08 07:02:00",
      "Background tokenabsent",
      "Widget tokenpresent", "3 events, 4 decisions",
    ] {
      #expect(known.text.contains(part), "\(part)")
    }
    #expect(rows.count == 7)
    #expect(rows[1].hasPrefix("w1,FlightStatus,\"widget, systemSmall\",present,flight/<i>,2,1,EMITTED,39"))
    #expect(rows[2].hasPrefix("w2,Board,widget,no pushes wanted,k1 k2 k3 k4 k5 k6 k7 k8 k9,0,0,–"))
    #expect(
      rows[3].hasPrefix(
        "c1,Gate,control,\"dead, at 2013-03-08 07:02:00 UTC-5 (2013-03-08 12:02:00 UTC)\",,1,0,TOKEN_DEAD"))
    #expect(rows[4].hasPrefix("a1,Live,liveActivity,channel ch,x,0,") && rows[5].hasPrefix("start/Live,Live,"))
    #expect(rows[6].hasPrefix("gone,FlightStatus,widget,not registered,,1,1,EMITTED"))
    // The query wins over the zone, also for UTC; a time in the form is one of the zone.
    for (query, words) in [("%2B00:00", "2013-03-08 12:01:00"), ("%2B05:30", "2013-03-08 17:31:00")] {
      let page = try page(
        .success(.init(registration: registration, ageSeconds: 7)), "/devices/phone?utc-offset=\(query)"
      ).page
      #expect(page.text.contains(words) && !page.text.contains("2013-03-08 07:01:00"), "\(query)")
      let leading = page.links.filter { $0.address.hasPrefix("/why?") || $0.address.hasPrefix("/commands/") }
      #expect(!leading.isEmpty && leading.allSatisfy { $0.address.contains("utc-offset=\(query)") })
    }
    let range = try page(
      .success(.init(registration: registration, ageSeconds: 7)),
      "/devices/phone?from=2013-03-08+07:01&to=2013-03-08+07:02")
    #expect(range.page.text.contains("2 decisions and pushes"))
    registration.updatedAt = PageSample.start + .hours(1)
    let anew = try page(.success(.init(registration: registration, ageSeconds: 7))).rows
    #expect(anew[3].hasPrefix("c1,Gate,control,present,"), "a device that registered since has a token again")
    registration.tokens = .init()
    #expect(try page(.success(.init(registration: registration, ageSeconds: 7))).rows[1].contains(",absent,"))
    #expect(try page(.success(.init(registration: nil, ageSeconds: 3))).page.text.contains("has none of this device"))
    #expect(try page(.success(.init(registration: nil, ageSeconds: nil))).page.text.contains("still being filled"))
    #expect(try page(.failure(.init("<no disk>"))).page.text.contains("is not known: <no disk>."))
    #expect(PageCheck(text(try PageSample(batch).page("/devices/phone"))).text.contains("console.devicesView"))
    let unseen = try PageSample(
      batch, devices: StubDevices(found: .success(.init(registration: registration, ageSeconds: 1))))
    #expect(try unseen.page("/devices/silent").status == 200)
    let look = Signal(device: "silent", id: "0", time: PageSample.start, kind: .appForegrounded)
    let looked = try PageSample(
      batch,
      devices: StubDevices(
        found: .success(.init(registration: registration, ageSeconds: 1)), looks: .success([look])))
    #expect(PageCheck(text(try looked.page("/devices/silent"))).text.contains("the app was opened"))
  }

  @Test("looks and fetches stand on the axis of a device's decisions and pushes, and in a table of their own")
  func looks() throws {
    func page(_ looks: Result<[Signal], ListeningDevicesError>, _ query: String = "") throws -> (PageCheck, String) {
      let sample = try PageSample(AuditBatch.small, devices: StubDevices(looks: looks))
      let markup = text(try sample.page("/devices/phone\(query)"))
      let page = PageCheck(markup)
      #expect(page.mistakes.isEmpty, "\(page.mistakes)")
      return (page, markup)
    }
    func signal(_ seconds: Int64, _ kind: Signal.Kind) -> Signal {
      Signal(device: "phone", id: "0", time: PageSample.start + .seconds(seconds), kind: kind)
    }
    let signals = [
      signal(200, .appBackgrounded), signal(100, .appForegrounded), signal(90, .widgetFetched(instance: "<b>w")),
      signal(30, .widgetViewed(instance: nil)),
    ]
    let (known, markup) = try page(.success(signals))
    #expect(markup.components(separatedBy: "class=\"hollow look\"").count == 5)
    #expect(markup.contains("looks, fetches") && markup.contains("4 looks or fetches"))
    for words in ["the app was opened", "the app was left", "fetched<b>w", "looked atevery widget"] {
      #expect(known.text.contains(words), "\(words)")
    }
    let sample = try PageSample(AuditBatch.small, devices: StubDevices(looks: .success(signals)))
    let csv = text(try sample.page("/devices/phone?table=looks")).split(separator: "\r\n")
    #expect(csv.count == 5 && csv[1].hasSuffix(",the app was left,"))
    // Only those of the range.
    let (_, ranged) = try page(.success(signals), "?to=2013-03-08+12:01:20&utc-offset=%2B00:00")
    #expect(ranged.components(separatedBy: "class=\"hollow look\"").count == 2)
    #expect(try !page(.success([])).1.contains("looks, fetches<"))
    #expect(try page(.failure(.init("<no disk>"))).0.text.contains("Looks and fetches are not known: <no disk>."))
  }

  @Test(
    "the pages of a device have the offset of its zone at each time, also behind a change to summer time, and UTC beside it"
  )
  func summerTime() throws {
    // The clocks went forward on 2013-03-10.
    let later: Int64 = 3 * 24 * 60
    var batch = AuditBatch()
    batch.append(PageSample.decision(0, event: "winter", command: "c-0-0-0"))
    batch.append(PageSample.command(0, kind: "FlightStatus", event: "winter"))
    batch.append(PageSample.decision(Int(later), event: "summer", command: "c-0-1-0"))
    batch.append(PageSample.command(Int(later), kind: "FlightStatus", event: "summer", id: "c-0-1-0", left: 3))
    let registration = Registration(
      device: "phone", app: "a", environment: .production, platform: "iOS", osVersion: OSVersion(major: 26, minor: 1),
      timeZone: "America/New_York", tokens: .init(), updatedAt: PageSample.start)
    let sample = try PageSample(
      batch, devices: StubDevices(found: .success(.init(registration: registration, ageSeconds: 7))))
    func page(_ address: String) throws -> String {
      let page = PageCheck(text(try sample.page(address)))
      #expect(page.mistakes.isEmpty, "\(page.mistakes)")
      return page.text
    }
    let device = try page("/devices/phone")
    for part in ["2013-03-08 07:00:002013-03-08 12:00:00 UTC", "2013-03-11 08:00:002013-03-11 12:00:00 UTC"] {
      #expect(device.contains(part), "\(part)")
    }
    // A time in the form is read by the offset of its own day.
    #expect(try page("/devices/phone?from=2013-03-11+08:00&to=2013-03-11+08:01").contains("2 decisions and pushes"))
    #expect(try page("/devices/phone?from=2013-03-11+07:00&to=2013-03-11+07:01").contains("0 decisions and pushes"))
    #expect(
      try page("/why?device=phone&event=winter").contains("At 2013-03-08 07:00:00 UTC-5 (2013-03-08 12:00:00 UTC)"))
    #expect(try page("/why?device=phone&event=summer").contains("Time, America/New_York"))
    #expect(try page("/why?device=phone&at=2013-03-08+07:00").contains("event winter"))
    #expect(try page("/commands/c-0-1-0").contains("at 2013-03-11 08:00:00 UTC-4 (2013-03-11 12:00:00 UTC)"))
    #expect(try page("/commands/c-0-1-0?utc-offset=%2B00:00").contains("at 2013-03-11 12:00:00 UTC."))
  }

  @Test("the instances of a device are counted over the whole range, and older entries have a link")
  func instanceCounts() throws {
    var batch = AuditBatch()
    batch.append(PageSample.decision(0, event: "first", instance: "w2", verdict: .suppress, reason: .tokenDead))
    batch.append(PageSample.decision(1, event: "second", instance: "w2", verdict: .suppress, reason: .notVisible))
    for n in 2..<400 { batch.append(PageSample.decision(n, event: "e\(n)")) }
    var registration = Registration(
      device: "phone", app: "a", environment: .production, platform: "iOS", osVersion: OSVersion(major: 26, minor: 1),
      timeZone: "Etc/UTC", tokens: .init(widgets: "00"), updatedAt: PageSample.start)
    registration.widgets = [.init(id: "w1", kind: "FlightStatus", interests: [])]
    registration.controls = [.init(id: "w2", kind: "FlightStatus", token: "00", interests: [])]
    let sample = try PageSample(
      batch, devices: StubDevices(found: .success(.init(registration: registration, ageSeconds: 7))))
    let rows = text(try sample.page("/devices/phone?table=instances")).split(separator: "\r\n")
    #expect(rows[1].hasPrefix("w1,FlightStatus,widget,present,,398,398,EMITTED,11"), "\(rows)")
    // The token is dead although the newest entries of the page, and the last decision about the instance, do not tell.
    #expect(rows[2].hasPrefix("w2,FlightStatus,control,\"dead, at 2013-03-08 12:00:00 UTC"), "\(rows)")
    #expect(rows[2].hasSuffix(",2,0,NOT_VISIBLE,11"), "\(rows)")
    var (page, pages) = (PageCheck(text(try sample.page("/devices/phone"))), 1)
    #expect(page.text.contains("300 older ones in this range.") && page.mistakes.isEmpty, "\(page.mistakes)")
    #expect(page.links.contains { $0.address == "/decisions?device=phone&instance=w1" })
    while let older = page.links.first(where: {
      $0.address.hasPrefix("/devices/phone?to=") && !$0.address.contains("table=")
    }) {
      page = PageCheck(text(try sample.page(older.address)))
      pages += 1
    }
    #expect(pages == 5 && page.links.contains { $0.address.hasPrefix("/why?device=phone&event=first") })
  }

  @Test("the page why has the terms, what would have changed the verdict, and what to do")
  func why() throws {
    let sample = try PageSample(AuditBatch.small)
    let page = PageCheck(text(try sample.page("/why?device=phone&event=e1")))
    #expect(page.mistakes.isEmpty, "\(page.mistakes)")
    for part in ["What would have changed it", "What to do", "0.8 looks", "64 %", "c-0-1-0"] {
      #expect(page.text.contains(part), "\(part)")
    }
    #expect(
      page.text.contains(
        "relevance: 0.5 of 1; worth of this one: 0.41 looks; price: 0.3 looks; instance has left: 11 tokens; device has left: 2 tokens; app has left: not limited, or not counted."
      ))
    #expect(page.text.contains("No limit held it back then."))
  }

  @Test("the page why tells of a change that expired while it waited, or had no token, what would have had it sent")
  func lost() throws {
    var batch = AuditBatch()
    var held = PageSample.decision(0, event: "old", verdict: .defer, reason: .minInterval)
    held.until = PageSample.start + .minutes(5)
    batch.append(held)
    batch.append(PageSample.decision(9, event: "old", verdict: .suppress, reason: .expired))
    batch.append(PageSample.decision(10, event: "none", verdict: .suppress, reason: .noToken))
    let sample = try PageSample(batch)
    let expired = PageCheck(text(try sample.page("/why?device=phone&event=old"))).text
    #expect(
      expired.contains(
        "What would have changed it: when it last waited, at 2013-03-08T12:00:00Z (MIN_INTERVAL), without this limit it would have been sent: worth 0.41, and a token costs 0.3; the limit was over at 2013-03-08T12:05:00Z."
      ), "\(expired)")
    let untold = PageCheck(text(try sample.page("/why?device=phone&event=none"))).text
    #expect(untold.contains("What would have changed it: with a push token that reaches the instance"))
  }

  @Test(
    "the diagram of a decision that was not weighed has its relevance and the tokens left, and says which limit held it"
  )
  func terms() throws {
    var held = PageSample.decision(0, verdict: .defer, reason: .budgetInstance)
    (held.wrong, held.looks, held.value, held.price) = (0, 0, 0, 0)
    held.tokensLeft = Decision.TokensLeft(instance: 0, device: 2, app: 1_234)
    held.until = PageSample.start + .minutes(5)
    var batch = AuditBatch()
    batch.append(held)
    let page = text(try PageSample(batch).page("/why?device=phone&event=e1"))
    let check = PageCheck(page)
    #expect(check.mistakes.isEmpty, "\(check.mistakes)")
    #expect(
      check.text.contains(
        "relevance: 0.5 of 1; worth and price: not weighed, because BUDGET_INSTANCE came first; instance has left: 0 tokens, which held it back; device has left: 2 tokens; app has left: 1,234 tokens."
      ))
    #expect(
      check.text.contains(
        "The limit BUDGET_INSTANCE held it back until 2013-03-08 12:05:00 UTC, or until the event ended."))
    // The relevance, two squares for the tokens of the device, and one bar for those of the app.
    #expect(page.components(separatedBy: "class=\"coalesce\"/>").count == 5)
    #expect(page.components(separatedBy: "class=\"track\"/>").count == 5)
  }
}
