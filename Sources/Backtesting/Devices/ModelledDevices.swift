import Domain
import Planning
import Policies
import Replay

/// The measured devices as the model describes them, independent of any planner: when people look at them, which pushes
/// their systems grant, and when their widgets reload by themselves.
struct ModelledDevices {
  /// The behaviour of the devices.
  let model: DeviceModel
  /// The looks of people at the devices.
  let looks: LookModel
  /// The recorded screen events, from which recorded looks follow; nil without any.
  private let screens: ScreenEvents?
  /// The view curves of devices with recorded looks.
  private var curves: [Identifier: [Double]] = [:]
  private var histories: [Identifier: DeviceHistory] = [:]

  /// Prepares the devices of the measured instances.
  init(_ model: DeviceModel, screens: ScreenEvents?, streams: [InstanceStream]) {
    self.model = model
    self.screens = screens
    looks = LookModel(model, screens: screens, curve: screens?.curve.hourly ?? KindPolicy.defaultViews)
    for stream in streams where histories[stream.device] == nil {
      histories[stream.device] = DeviceHistory()
      curves[stream.device] = screens?.curve(of: stream.device)?.hourly
    }
  }

  /// Adds a signal to the history of its device. Signals of devices that are not measured are dropped.
  mutating func note(_ signal: Signal, at now: Int64) { histories[signal.device]?.note(signal, at: now) }

  /// Returns the hidden budget of an instance; nil if the model has none. No figure is known for controls, so they have
  /// none.
  func budget(of stream: InstanceStream) -> DeviceBudget? {
    guard model.hasBudgets, stream.reach != .control else { return nil }
    return model.budget(
      device: stream.device, instance: stream.instance, zone: stream.zone, looksPerDay: looks.perDay(stream.device))
  }

  /// Returns those pushes of a plan that reload the instance, because its device grants them.
  /// - Parameters:
  ///   - pushes: The pushes of a plan, µs, rising.
  ///   - stream: The instance.
  func granted(_ pushes: [Int64], stream: InstanceStream) -> [Int64] {
    guard var budget = budget(of: stream) else { return pushes }
    return pushes.filter { budget.grants(at: $0) }
  }

  /// Returns whether a widget of the device ever fetched by itself, without the others.
  func fetchesAlone(_ device: Identifier) -> Bool { histories[device]?.fetchesAlone ?? false }

  /// Returns the looks at an instance, µs, rising.
  func looks(at stream: InstanceStream) -> [Int64] { histories[stream.device]?.looks(at: stream) ?? [] }

  /// Returns the instants at which an instance reloaded without a push, µs, rising.
  func freeReloads(of stream: InstanceStream) -> [Int64] { histories[stream.device]?.freeReloads(of: stream) ?? [] }

  /// Returns the looks at an instance on a budget day that its view curve leads one to expect.
  func expectedLooks(at stream: InstanceStream, kind: KindPolicy) -> (LocalDays.Day) -> DayLooks {
    let views = curves[stream.device] ?? kind.views
    let days = LocalDays(zone: stream.zone, anchorMinute: kind.budget.anchorMinute)
    return { day in
      var days = days
      return DayLooks(hours: days.hours(of: day, views: views), views: views)
    }
  }

  /// Returns the days on which the truth of an instance's screen changed. They are measured by recorded looks if there are
  /// any, otherwise by the looks that the view curve leads one to expect.
  func screenDays(of stream: InstanceStream, kind: KindPolicy) -> [ScreenDay] {
    let days = LocalDays(zone: stream.zone, anchorMinute: kind.budget.anchorMinute)
    let expected = expectedLooks(at: stream, kind: kind)
    let free = freeReloads(of: stream)
    let changes = stream.screen.changes
    var parts: [ScreenDay] = []
    var start = 0
    while start < changes.count {
      let day = days.day(at: changes[start].time)
      var end = start
      while end < changes.count, changes[end].time < day.end { end += 1 }
      let looks =
        screens == nil
        ? expected(day)
        : DayLooks(
          recorded: self.looks.looks(at: stream.device, zone: stream.zone, from: day.start, to: day.end)[...])
      parts.append(
        ScreenDay(
          day: day, changes: start..<end, looks: looks,
          free: free[free.partitioningIndex { $0 >= day.start }..<free.partitioningIndex { $0 >= day.end }]))
      start = end
    }
    return parts
  }

  /// Returns the days on which a change arrived at an instance. The chance of a look comes from the recorded looks at the
  /// device, or else from the kind's view curve.
  func days(of stream: InstanceStream, kind: KindPolicy) -> [InstanceDay] {
    var days = LocalDays(zone: stream.zone, anchorMinute: kind.budget.anchorMinute)
    let model = ValueModel(kind, views: curves[stream.device])
    let free = freeReloads(of: stream)
    var parts: [InstanceDay] = []
    var start = 0
    while start < stream.arrivals.count {
      let day = days.day(at: stream.arrivals[start].time)
      var end = start
      while end < stream.arrivals.count, stream.arrivals[end].time < day.end { end += 1 }
      let from = free.partitioningIndex { $0 >= day.start }
      let to = free.partitioningIndex { $0 >= day.end }
      parts.append(
        InstanceDay(
          day: day, model: model, arrivals: stream.arrivals[start..<end], free: free[from..<to], days: &days))
      start = end
    }
    return parts
  }
}
