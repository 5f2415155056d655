import Domain
import JSON
import Testing

/// The schemas and the documentation follow the descriptions of reasons, surfaces and ledgers in Domain.
@Suite("Codes are described once") struct CodeTests {
  @Test("the schemas list the codes of the domain, in their order")
  func schemas() throws {
    let decision = try #require(try Repository.schema("decision")["properties"])
    let command = try #require(try Repository.schema("command")["properties"])
    let served = try #require(command.at("serves", "items", "properties"))
    let reasons = Reason.allCases.map(\.rawValue)
    #expect(decision.at("reason", "enum")?.texts == reasons, "schemas/decision.schema.json")
    #expect(served.at("reason", "enum")?.texts == reasons, "schemas/command.schema.json")
    #expect(decision.at("verdict", "enum")?.texts == Verdict.allCases.map(\.rawValue))
    let surfaces = Surface.allCases.map(\.rawValue)
    #expect(decision.at("surface", "enum")?.texts == surfaces, "schemas/decision.schema.json")
    #expect(command.at("surface", "enum")?.texts == surfaces, "schemas/command.schema.json")
    let ledger = try #require(command.at("charged", "items", "properties", "ledger"))
    #expect(ledger["enum"]?.texts == Command.Ledger.allCases.map(\.rawValue), "schemas/command.schema.json")
    #expect(command.at("environment", "enum")?.texts == Registration.Environment.allCases.map(\.rawValue))
  }

  @Test("one page lists every reason with its verdict and meaning", arguments: Reason.allCases)
  func page(_ reason: Reason) throws {
    let row = "| `\(reason.rawValue)` | \(reason.verdict?.rawValue ?? "on commands only") | \(reason.meaning) |"
    let pages = try Repository.pages().filter { try Repository.text($0).contains("| `DUPLICATE` | suppress |") }
    #expect(pages.count == 1, "the table of reasons stands on one page")
    for page in pages {
      #expect(try Repository.text(page).split(separator: "\n").contains(Substring(row)), "\(page) lacks the row \(row)")
    }
  }

  @Test("a number stands for one word, and no reason has the number 0, which means none in the planner's state")
  func numbers() {
    func check<Code: NumberedCode & Equatable>(_ type: Code.Type) {
      for code in Code.allCases { #expect(Code(number: code.number) == code, "\(code)") }
      #expect(Code(number: .max) == nil)
    }
    check(Reason.self)
    check(Verdict.self)
    check(Surface.self)
    check(Command.Ledger.self)
    check(Registration.Environment.self)
    #expect(Reason(number: 0) == nil)
  }

  @Test("the numbers of the first reasons never change: files hold them")
  func stored() {
    let first: [Reason] = [
      .duplicate, .staleEvent, .noMatch, .cosmetic, .notVisible, .noToken, .tokenDead, .unsupportedOS, .payloadTooLarge,
      .kindDisabled, .appForeground, .reloadImminent, .quietHours, .minInterval, .budgetInstance, .budgetDevice,
      .budgetApp, .reserveHeld, .belowPrice, .emitted, .emittedAfterDefer, .emittedCoalesced,
      .emittedShared, .superseded, .expired, .freshened, .instanceRemoved, .emittedFree, .activityEnded,
      .alreadyStarted, .endedQuiet, .caughtUp, .contentIncomplete, .awaitingToken, .dismissed,
    ]
    #expect(first.map(\.number) == (1...35).map { UInt8($0) })
  }

  @Test("a decision that defers, and a duplicate, leave the event open; every other one closes it")
  func finality() {
    for reason in Reason.allCases {
      #expect(!reason.isFinal(with: .defer))
      #expect(reason.isFinal(with: .suppress) == (reason != .duplicate))
      #expect(reason.holdsBack == (reason.verdict == .defer))
    }
  }
}
