import Domain

/// A place in a budget day: the whole hours since its anchor, and the part of the hour that has passed.
struct DayPlace: Equatable {
  /// The hour of the budget day, 0…23.
  var hour: Int
  /// The part of the hour that has passed, 0..<1.
  var part: Double

  /// The beginning of the day.
  static let start = DayPlace(hour: 0, part: 0)

  /// Creates a place.
  init(hour: Int, part: Double) {
    self.hour = hour
    self.part = part
  }

  /// Creates the place of a local time.
  /// - Parameters:
  ///   - timeOfDay: The local time.
  ///   - anchorMinute: The local time at which a budget day begins, in minutes after midnight.
  init(_ timeOfDay: TimeOfDay, anchorMinute: Int) {
    var since = timeOfDay.microseconds - Int64(anchorMinute) * 60_000_000
    if since < 0 { since += LocalZone.day.microseconds }
    hour = Int(since / LocalZone.hour.microseconds)
    part = Double(since % LocalZone.hour.microseconds) / Double(LocalZone.hour.microseconds)
  }

  /// Creates the place at a number of hours after the anchor; a number outside of the day counts as its beginning or
  /// end.
  init(hours: Double) {
    let kept = min(max(0, hours), 23.999_999)
    hour = Int(kept)
    part = kept - Double(hour)
  }

  /// The hours since the anchor, 0..<24.
  var hours: Double { Double(hour) + part }
}
