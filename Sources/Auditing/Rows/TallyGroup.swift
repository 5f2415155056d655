/// The columns by which the table `tally` counts decisions, without the hour.
struct TallyGroup: Hashable {
  var code: Int64
  var kind: Int64
}
