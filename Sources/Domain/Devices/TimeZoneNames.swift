import Foundation

/// The time zones of the system's database.
public enum TimeZoneNames {
  private static let known = Set(TimeZone.knownTimeZoneIdentifiers)

  /// Whether the system's database has an IANA time zone id. Ids outside of its main list, such as `UTC` and `US/Eastern`, are
  /// looked up one by one, which is slower. Abbreviations (`PST`) and fixed offsets (`GMT+3`) also pass.
  public static func exists(_ name: String) -> Bool {
    known.contains(name) || TimeZone(identifier: name) != nil
  }
}
