import Foundation
import Synchronization

extension TimeZoneOffsets {
  /// The offsets by this machine's time zone database. Each zone is looked up once. Safe on any thread.
  public static let system: TimeZoneOffsets = {
    let zones = Mutex<[String: TimeZone]>([:])
    return TimeZoneOffsets { id, seconds in
      let zone = zones.withLock { known in
        if let zone = known[id] { return zone }
        let zone = TimeZone(identifier: id) ?? .gmt
        known[id] = zone
        return zone
      }
      return Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
    }
  }()
}
