/// One instance in a weighing.
struct InstanceTerms {
  let instance: InstanceSlot
  /// D, how wrong the screen is, 0…1.
  let distance: Double
  /// V, the looks of the next 20 minutes.
  let looks: Double
  /// W of the instance, in looks; 0 if its screen is right.
  let worth: Double
}
