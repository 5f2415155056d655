import Foundation
import Synchronization

/// The offsets by this machine's time zone database. Each zone is looked up once in the life of the process.
public struct SystemTimeZones: TimeZoneOffsets {
  private static let zones = Mutex<[String: TimeZone]>([:])

  /// Makes a view of the database.
  public init() {}

  public func secondsEast(_ zone: String, _ unixSeconds: Int64) -> Int64 {
    let zone = Self.zones.withLock { known in
      if let zone = known[zone] { return zone }
      let found = TimeZone(identifier: zone) ?? .gmt
      known[zone] = found
      return found
    }
    return Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(unixSeconds))))
  }
}

extension TimeZoneOffsets where Self == SystemTimeZones {
  /// The offsets by this machine's time zone database.
  public static var system: SystemTimeZones { SystemTimeZones() }
}
