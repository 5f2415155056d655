import Foundation

/// The time zones of the IANA database, in the version that Foundation brings along.
public enum TimeZoneNames {
  private static let known = Set(TimeZone.knownTimeZoneIdentifiers)

  /// The first parts of the names that the database has. `Etc` is among them, `SystemV` is not.
  private static let areas: Set<Substring> = [
    "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Brazil", "Canada", "Chile", "Etc",
    "Europe", "Indian", "Mexico", "Pacific", "US",
  ]

  /// The names of the database that have no area. All of them are old, and no new ones are made.
  /// https://data.iana.org/time-zones/theory.html
  private static let names: Set<String> = [
    "CET", "CST6CDT", "Cuba", "EET", "EST", "EST5EDT", "Egypt", "Eire", "Factory", "GB", "GB-Eire", "GMT", "GMT+0",
    "GMT-0", "GMT0", "Greenwich", "HST", "Hongkong", "Iceland", "Iran", "Israel", "Jamaica", "Japan", "Kwajalein",
    "Libya", "MET", "MST", "MST7MDT", "NZ", "NZ-CHAT", "Navajo", "PRC", "PST8PDT", "Poland", "Portugal", "ROC", "ROK",
    "Singapore", "Turkey", "UCT", "UTC", "Universal", "W-SU", "WET", "Zulu",
  ]

  /// The names with an area that only Foundation has: the database has removed them.
  private static let removed: Set<String> = ["Canada/East-Saskatchewan", "US/Pacific-New"]

  /// Whether the database has a time zone id. Foundation also takes abbreviations and guesses their zones (`BST` is Dhaka's), and
  /// offsets (`GMT+3`); they are no ids. Old ids such as `US/Eastern` are looked up one by one, which is slower.
  public static func exists(_ name: String) -> Bool {
    if known.contains(name) { return true }
    if let slash = name.firstIndex(of: "/") {
      guard areas.contains(name[..<slash]), !removed.contains(name) else { return false }
    } else if !names.contains(name) {
      return false
    }
    return TimeZone(identifier: name) != nil
  }
}
