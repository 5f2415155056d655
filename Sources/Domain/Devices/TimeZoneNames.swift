import Foundation

/// Which time zones exist, by the database of the system.
public enum TimeZoneNames {
  private static let known = Set(TimeZone.knownTimeZoneIdentifiers)

  /// Whether the system's database has this IANA time zone id. Ids outside its main list (`UTC`, `US/Eastern`) are looked
  /// up one by one, which is slower; that also lets abbreviations (`PST`) and fixed offsets (`GMT+3`) pass.
  public static func exists(_ name: String) -> Bool {
    known.contains(name) || TimeZone(identifier: name) != nil
  }
}
