@testable import Planning

/// A planner in a test's value, which is copied with the value: the copy is made when one of the two changes. It is no property wrapper,
/// because Swift 6.3 crashes when it compiles one of a type that cannot be copied.
struct CopiedPlanner {
  private final class Box {
    var planner: Planner
    init(_ planner: consuming Planner) { self.planner = planner }
  }

  private var box: Box

  init(_ planner: consuming Planner) { box = Box(planner) }

  var planner: Planner {
    _read { yield box.planner }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(Planner(copying: box.planner)) }
      yield &box.planner
    }
  }
}
