import Domain
import Planning
import Policies
import Replay

/// A comparison of every policy with an upper bound over limits that instances share.
///
/// If one push reloads several instances, or if a rate of pushes or an app's daily limit applies in addition to the
/// day's tokens, no plan can reach the optimum of every single instance at once. The bound takes those limits into
/// account.
struct SharedLimitsComparison {
  /// The instances that one push reloads together, or one instance alone.
  private struct Group {
    /// The places of the group's instances among all streams.
    var members: [Int]
    /// The kind of push that reloads the group.
    var reach: InstanceStream.Reach
    /// The number of groups of the device that one push can reload together, this one included.
    var sharers = 1
  }

  /// Sums over the days of all groups.
  private struct Sums {
    /// The value that the plan showed.
    var shown = 0.0
    /// The optima of single instances, each without limits that instances share.
    var optima = 0.0
    /// The upper bounds of the groups.
    var bound = 0.0
    /// Value shown ÷ upper bound, for each day of a group.
    var captured: [Double] = []
    /// For each app, the sums of the bounds if every push also costs the app a price: one sum for each of `appPrices`.
    var apps: [Identifier: [Double]] = [:]
  }

  /// The prices, in value shown, that each push of an app is assumed to cost. The least bound that follows is the
  /// result.
  private static let appPrices = [0.0] + (0..<18).map { 0.001 * Double(1 << $0) / 4 }

  private let streams: [InstanceStream]
  private let devices: ModelledDevices
  private let kinds: [Identifier: KindPolicy]
  private let groups: [Group]

  /// Prepares a comparison.
  /// - Parameters:
  ///   - streams: The streams of all measured instances, those of one device next to each other.
  ///   - devices: The modelled devices.
  ///   - kinds: The kinds of the policy whose rules define the worth of a change.
  init(_ streams: [InstanceStream], devices: ModelledDevices, kinds: [KindPolicy]) {
    self.streams = streams
    self.devices = devices
    self.kinds = Dictionary(kinds.map { ($0.name, $0) }) { first, _ in first }
    var groups: [Group] = []
    var start = 0
    while start < streams.count {
      var end = start
      while end < streams.count, streams[end].device == streams[start].device { end += 1 }
      groups += Self.groups(streams, start..<end, kinds: self.kinds, devices: devices)
      start = end
    }
    self.groups = groups
  }

  /// Returns the groups of one device.
  private static func groups(
    _ streams: [InstanceStream], _ range: Range<Int>, kinds: [Identifier: KindPolicy], devices: ModelledDevices
  ) -> [Group] {
    var groups: [Group] = []
    for index in range {
      guard let kind = kinds[streams[index].kind] else { continue }
      // Widgets whose days begin at different hours, and widgets that fetched alone, form separate groups.
      let reach = streams[index].reach
      let place = groups.firstIndex {
        $0.reach == .widgetPush && kinds[streams[$0.members[0]].kind]?.budget.anchorMinute == kind.budget.anchorMinute
      }
      if reach == .widgetPush, let place, !devices.fetchesAlone(streams[index].device) {
        groups[place].members.append(index)
      } else {
        groups.append(Group(members: [index], reach: reach))
      }
    }
    let sharers = groups.filter { $0.reach != .control }.count
    for group in groups.indices where groups[group].reach != .control { groups[group].sharers = sharers }
    return groups
  }

  /// Returns whether a policy has limits that instances share.
  private func isShared(_ policy: Policy) -> Bool {
    !policy.apps.isEmpty || groups.contains { $0.members.count > 1 || rate($0, policy).limit != nil }
  }

  /// Returns the rate of the pushes that reload a group.
  private func rate(_ group: Group, _ policy: Policy) -> BudgetProfile.Rate {
    switch group.reach {
    case .widgetPush: policy.profile.devicePushes
    case .backgroundPush: policy.profile.backgroundPushes
    case .both: .unlimited
    case .control: policy.profile.controlPushes
    }
  }

  /// Returns the result of one policy; nil if it has no limits that instances share, or nothing could be shown.
  func result(_ replay: CandidateReplay) -> BacktestReport.Shared? {
    guard isShared(replay.policy) else { return nil }
    var sums = Sums()
    var span: (from: Int64, to: Int64) = (.max, .min)
    for group in groups { add(group, replay, &sums, &span) }
    guard !sums.captured.isEmpty else { return nil }
    let sorted = sums.captured.sorted()
    return BacktestReport.Shared(
      name: replay.name, samples: sorted.count, shown: sums.shown, sumOfOptima: sums.optima,
      upperBound: total(sums, replay.policy, span),
      capturedMean: sorted.reduce(0, +) / Double(sorted.count),
      capturedP10: sorted[Int((0.1 * Double(sorted.count - 1)).rounded(.down))])
  }

  /// Adds the days of one group, and extends the time span in which pushes can show something.
  private func add(
    _ group: Group, _ replay: CandidateReplay, _ sums: inout Sums, _ span: inout (from: Int64, to: Int64)
  ) {
    let budgets = group.members.compactMap { replay.policy.kind(named: streams[$0].kind)?.budget }
    guard budgets.count == group.members.count else { return }
    var days: [Int64: [(member: Int, day: InstanceDay)]] = [:]
    // Only the pushes that devices granted show something.
    var reloads: [Int: [Int64]] = [:]
    for member in group.members {
      reloads[member] = devices.granted(replay.reloads[member], stream: streams[member])
      guard let kind = kinds[streams[member].kind] else { continue }
      for day in devices.days(of: streams[member], kind: kind) {
        days[day.day.index, default: []].append((member, day))
      }
    }
    for (_, parts) in days.sorted(by: { $0.key < $1.key }) {
      let day = parts[0].day.day
      for (_, part) in parts {
        // A push before the first change, or after the last change has expired, shows nothing.
        for arrival in part.arrivals {
          span = (min(span.from, arrival.time), max(span.to, min(day.end, arrival.expires)))
        }
      }
      let limits = SharedBound.Limits(
        perDay: zip(group.members, budgets).reduce(Int.max) { min($0, most($1.1, kind: streams[$1.0].kind, day)) },
        minInterval: budgets.reduce(0) { max($0, $1.minInterval.microseconds) },
        rate: rate(group, replay.policy))
      addDay(parts, reloads: reloads, limits, group, replay.policy, &sums)
    }
  }

  /// Adds one day of a group.
  /// - Parameters:
  ///   - parts: The members that a change reached on the day, each with its instance-day.
  ///   - reloads: The reloads of each member that its device granted, on all days, µs, rising.
  ///   - limits: The limits of the group.
  private func addDay(
    _ parts: [(member: Int, day: InstanceDay)], reloads: [Int: [Int64]], _ limits: SharedBound.Limits, _ group: Group,
    _ policy: Policy, _ sums: inout Sums
  ) {
    let day = parts[0].day.day
    var shown = 0.0
    var optima = 0.0
    for (member, part) in parts {
      let own = policy.kind(named: streams[member].kind)?.budget.perDay ?? 0
      optima += part.optimum(tokens: own).value
      shown += part.score(reloads: slice(reloads[member] ?? [], of: day), tokens: own).value
    }
    let windows = limits.windows(over: day)
    let problem = HindsightProblem(together: parts.map(\.day), at: Set(windows.map(\.from)).sorted())
    let bound = SharedBound(problem, windows: windows)
    let least = min(optima, bound.value)
    sums.shown += shown
    sums.optima += optima
    sums.bound += least
    if least > 0 { sums.captured.append(shown / least) }
    price(problem, bound, least: least, most: windows[0].most, group, policy, &sums)
  }

  /// Returns the largest number of tokens of a kind in one measured day. A budget that counts by other days can grant two
  /// of its days' tokens within one measured day.
  private func most(_ budget: InstanceBudget, kind: Identifier, _ day: LocalDays.Day) -> Int {
    switch budget.window {
    case .localDay: budget.anchorMinute == kinds[kind]?.budget.anchorMinute ? budget.perDay : 2 * budget.perDay
    case .rolling: day.end - day.start <= LocalDays.day ? budget.perDay : 2 * budget.perDay
    }
  }

  /// Returns the reloads of a day.
  private func slice(_ reloads: [Int64], of day: LocalDays.Day) -> ArraySlice<Int64> {
    reloads[reloads.partitioningIndex { $0 >= day.start }..<reloads.partitioningIndex { $0 >= day.end }]
  }

  // MARK: Apps

  /// Adds the bound of one day under each of `appPrices`. The groups of a device that one push can reload share the
  /// price.
  private func price(
    _ problem: HindsightProblem, _ bound: SharedBound, least: Double, most: Int, _ group: Group, _ policy: Policy,
    _ sums: inout Sums
  ) {
    let app = streams[group.members[0]].app
    guard policy.apps.contains(where: { $0.app == app }) else { return }
    var priced = sums.apps[app] ?? Array(repeating: 0, count: Self.appPrices.count)
    for (place, appPrice) in Self.appPrices.enumerated() {
      let appShare = appPrice / Double(group.sharers)
      let own = max(0, bound.price - appShare)
      priced[place] += min(least, problem.priced(at: appShare + own).net + own * Double(most))
    }
    sums.apps[app] = priced
  }

  /// Returns the bound over all days, lowered by the daily limits of apps.
  private func total(_ sums: Sums, _ policy: Policy, _ span: (from: Int64, to: Int64)) -> Double {
    var total = sums.bound
    for (app, priced) in sums.apps.sorted(by: { $0.key < $1.key }) {
      guard let limit = policy.apps.first(where: { $0.app == app })?.perDay else { continue }
      let days = Double((span.to - 1) / LocalDays.day - span.from / LocalDays.day + 1)
      let least = zip(priced, Self.appPrices).map { $0 + $1 * Double(limit) * days }.min() ?? 0
      total -= max(0, priced[0] - least)
    }
    return total
  }
}
