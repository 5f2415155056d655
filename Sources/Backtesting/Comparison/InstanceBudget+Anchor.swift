import Policies

extension InstanceBudget {
  /// The start of the day by which reports count, in minutes after local midnight. A budget over a rolling day is counted
  /// from 04:00.
  var anchorMinute: Int { if case .localDay(let minute) = window { minute } else { 240 } }
}
