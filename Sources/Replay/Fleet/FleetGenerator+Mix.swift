import Domain

/// The mix of a synthetic fleet. The numbers are invented weights, chosen so that every case occurs that a planner treats
/// differently.
extension FleetGenerator {
  /// The numbers of widgets that devices have, each with its weight.
  static let widgetCounts: [(value: Int, weight: Int)] = [(1, 50), (2, 28), (3, 14), (4, 8)]

  /// The platforms of devices, each with its weight.
  static let platforms: [(value: String, weight: Int)] = [("iOS", 87), ("iPadOS", 13)]

  /// The OS versions of devices, each with its weight. Versions before 26 have no widget pushes.
  static let osVersions: [(value: OSVersion, weight: Int)] = [
    (OSVersion(major: 26, minor: 1), 48), (OSVersion(major: 26), 30), (OSVersion(major: 26, minor: 2), 4),
    (OSVersion(major: 18, minor: 7), 9), (OSVersion(major: 18, minor: 6), 4), (OSVersion(major: 18, minor: 3), 2),
    (OSVersion(major: 17, minor: 7), 3),
  ]

  /// The time zones of devices, each with its weight.
  static let timeZones: [(value: String, weight: Int)] = [
    ("America/New_York", 340), ("America/Los_Angeles", 160), ("America/Chicago", 150), ("America/Denver", 50),
    ("America/Phoenix", 20), ("America/Puerto_Rico", 15), ("America/Anchorage", 5), ("Pacific/Honolulu", 10),
    ("America/Toronto", 30), ("America/Mexico_City", 20), ("America/Sao_Paulo", 15), ("Europe/London", 60),
    ("Europe/Berlin", 30), ("Europe/Paris", 25), ("Europe/Rome", 10), ("Asia/Tokyo", 20), ("Asia/Kolkata", 15),
    ("Asia/Shanghai", 10), ("Asia/Dubai", 5), ("Australia/Sydney", 10),
  ]
}
