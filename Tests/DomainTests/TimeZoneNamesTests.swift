import Foundation
import Testing

@testable import Domain

@Suite("Time zone names")
struct TimeZoneNamesTests {
  @Test(
    "names of the IANA database are taken, old ones and links too",
    arguments: [
      "Europe/Rome", "America/Argentina/Buenos_Aires", "Antarctica/Troll", "Europe/Kyiv", "Europe/Kiev", "US/Eastern",
      "America/Montreal", "Etc/GMT+5", "Etc/GMT-14", "Etc/UTC", "UTC", "GMT", "GMT0", "GMT+0", "Zulu", "EST", "EST5EDT",
      "CET", "NZ-CHAT", "W-SU", "Factory",
    ])
  func known(name: String) { #expect(TimeZoneNames.exists(name)) }

  @Test(
    "other names are refused, although Foundation knows a zone for some of them",
    arguments: [
      "BST", "IST", "PST", "CST", "AST", "ACT", "JST", "VST", "GMT+3", "GMT-0530", "GMT+05:30", "UTC+3", "UTC-5",
      "UTC0",
      "+03:00", "Z", "Etc/GMT+20", "Etc/Unknown", "SystemV/PST8", "SystemV/EST5EDT", "US/Pacific-New",
      "Canada/East-Saskatchewan", "posix/Europe/Berlin", "right/Europe/Berlin", "localtime", "posixrules", "zone.tab",
      "Europe/Romee", "europe/rome", "EUROPE/ROME", "Europe/Rome ", " Europe/Rome", "Europe/", "/Rome", "Europe", "/",
      "",
      "Mars/Olympus", "Local", "../../etc/passwd", "/etc/localtime", "Europe/../Europe/Rome", "Europe/Berlin,M3.5.0",
    ])
  func unknown(name: String) { #expect(!TimeZoneNames.exists(name)) }

  @Test("no abbreviation is taken unless the database has it as a name")
  func abbreviations() {
    let taken = Set(TimeZone.abbreviationDictionary.keys.filter { TimeZoneNames.exists($0) })
    #expect(taken.isSubset(of: ["CET", "EET", "EST", "GMT", "HST", "MST", "UTC", "WET"]))
  }

  @Test("the names that Foundation lists are taken")
  func list() {
    let refused = TimeZone.knownTimeZoneIdentifiers.filter { !TimeZoneNames.exists($0) }
    #expect(refused.isEmpty)
  }
}
