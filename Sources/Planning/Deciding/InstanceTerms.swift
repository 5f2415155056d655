/// The figures of one instance that a push would reload. Their sum over the instances decides whether the push is made.
struct InstanceTerms {
  let instance: InstanceSlot
  /// D, how wrong the screen is, 0…1.
  let distance: Double
  /// V, the number of looks at the screen that are expected in the next 20 minutes.
  let looks: Double
  /// W, the worth of reloading the instance, in looks; 0 if its screen is right.
  let worth: Double
}
