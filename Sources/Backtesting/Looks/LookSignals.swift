import Domain
import Planning

/// What the simulated people's looks make their devices say, by time: `widget.viewed`, and `app.foregrounded` and
/// `app.backgrounded` for looks that open the app. Made an hour at a time, so memory does not grow with the span.
struct LookSignals {
  private struct Device {
    var name: String
    var zone: String
    var instances: [String]
  }

  private let model: DeviceModel
  private let looks: LookModel
  private let devices: [Device]
  /// Begin of the hour that is made next.
  private var hour: Int64
  private var batch: [Signal] = []
  private var place = 0
  private var serial = 0
  /// Said later than in the hour that is made.
  private var later: [Signal] = []

  /// Devices that trust their planner say only what is recorded of them.
  /// - Parameter from: first instant, µs.
  init(_ model: DeviceModel, looks: LookModel, streams: [InstanceStream], from: Int64) {
    self.model = model
    self.looks = looks
    var devices: [Device] = []
    for stream in streams where stream.reach != .control {
      guard model.hasBudgets || looks.isRecorded(stream.device, from: from) else { continue }
      if devices.last?.name == stream.device {
        devices[devices.count - 1].instances.append(stream.instance)
      } else {
        devices.append(Device(name: stream.device, zone: stream.zone, instances: [stream.instance]))
      }
    }
    self.devices = devices
    hour = from
  }

  /// The next signal at or before an instant; instants must not fall.
  mutating func next(upTo time: Int64) -> Signal? {
    if devices.isEmpty { return nil }
    while place >= batch.count {
      if hour > time { return nil }
      make()
    }
    guard batch[place].time.microseconds <= time else { return nil }
    place += 1
    return batch[place - 1]
  }

  private mutating func make() {
    let until = hour + LocalDays.hour
    batch = later.filter { $0.time.microseconds < until }
    later.removeAll { $0.time.microseconds < until }
    place = 0
    for device in devices {
      for look in looks.looks(at: device.name, zone: device.zone, from: hour, to: until) {
        tell(look, of: device, until)
      }
    }
    // By time; what is said at the same instant in the order made.
    batch = batch.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    hour = until
  }

  private mutating func tell(_ look: Int64, of device: Device, _ until: Int64) {
    if !model.hasBudgets {
      say(.widgetViewed(instance: nil), device, at: look, until)
      return
    }
    for instance in device.instances {
      var sees = model.random("sees", device.name, instance, String(look))
      if sees.unit() < model.seen(device: device.name, instance: instance) {
        say(.widgetViewed(instance: instance), device, at: look, until)
      }
    }
    var opens = model.random("opens", device.name, String(look))
    if opens.unit() < DeviceModel.opensApp.value {
      say(.appForegrounded, device, at: look, until)
      say(.appBackgrounded, device, at: look + Int64(DeviceModel.foregroundSeconds.value * 1e6), until)
    }
  }

  private mutating func say(_ kind: Signal.Kind, _ device: Device, at time: Int64, _ until: Int64) {
    serial += 1
    let signal = Signal(device: device.name, id: "look-\(serial)", time: Timestamp(microseconds: time), kind: kind)
    if time < until { batch.append(signal) } else { later.append(signal) }
  }
}
