import Foundation

/// Which time zones exist, by the database of the system.
public enum TimeZoneNames {
  private static let known = Set(TimeZone.knownTimeZoneIdentifiers)

  /// Whether this is an IANA time zone id of the system's database. Ids outside its main list (`UTC`, older names) are
  /// looked up one by one, which is slower.
  public static func exists(_ name: String) -> Bool {
    known.contains(name) || TimeZone(identifier: name) != nil
  }
}
