import Domain
import Planning
import Policies

/// The devices as they are, whatever any planner believes: who looks when, what their systems grant, what reloaded by
/// itself.
struct ModelledDevices {
  let model: DeviceModel
  let looks: LookModel
  /// View curves of single devices, where they are recorded.
  private let screens: ScreenEvents?
  private var curves: [String: [Double]] = [:]
  private var stories: [String: DeviceHistory] = [:]

  init(_ model: DeviceModel, screens: ScreenEvents?, streams: [InstanceStream]) {
    self.model = model
    self.screens = screens
    looks = LookModel(model, screens: screens, curve: screens?.curve.hourly ?? KindPolicy.defaultViews)
    for stream in streams where stories[stream.device] == nil {
      stories[stream.device] = DeviceHistory()
      curves[stream.device] = screens?.curve(of: stream.device)?.hourly
    }
  }

  /// What measured devices said; the rest is not kept.
  mutating func note(_ signal: Signal, at now: Int64) { stories[signal.device]?.note(signal, at: now) }

  /// The system's own budget for a widget; nil where there is none: no figure is known for controls.
  func budget(of stream: InstanceStream) -> DeviceBudget? {
    guard model.hasBudgets, stream.reach != .control else { return nil }
    return model.budget(
      device: stream.device, instance: stream.instance, zone: stream.zone, looksPerDay: looks.perDay(stream.device))
  }

  /// Of a plan's pushes, those that reloaded the instance.
  func granted(_ pushes: [Int64], stream: InstanceStream) -> [Int64] {
    guard var budget = budget(of: stream) else { return pushes }
    return pushes.filter { budget.grants(at: $0) }
  }

  /// Whether a widget of the device fetched by itself, without the others.
  func fetchesAlone(_ device: String) -> Bool { stories[device]?.fetchesAlone ?? false }

  func looks(at stream: InstanceStream) -> [Int64] { stories[stream.device]?.looks(at: stream) ?? [] }

  /// The days on which something came to an instance. Value is weighed by the views of the device itself where they are
  /// recorded, by the kind's else.
  func days(of stream: InstanceStream, kind: KindPolicy) -> [InstanceDay] {
    var days = LocalDays(zone: stream.zone, anchorMinute: kind.budget.anchorMinute)
    let model = ValueModel(kind, views: curves[stream.device])
    let free = stories[stream.device]?.freeReloads(of: stream) ?? []
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
