import Domain

/// The usual demand and looks of a kind in one time zone at one instant. It is the same for all instances that have no habits of
/// their own, so it is computed once for all of them.
struct UsualCourse {
  /// The log time for which it was computed.
  var at: Timestamp
  /// The place in the budget day.
  var place: DayPlace
  /// The usual need around that place.
  var need: DemandCourse
  /// The usual worth around that place.
  var worth: DemandCourse
  /// V, the looks of the next 20 minutes.
  var ahead: Double
}
