/// The key of `tally` without the hour.
struct TallyGroup: Hashable {
  var code: Int64
  var kind: Int64
}
