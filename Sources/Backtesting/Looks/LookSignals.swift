import Domain
import Planning
import Replay

/// The signals that modelled devices send because people look at them, in the order of time: `widget.viewed`, and
/// `app.foregrounded` with `app.backgrounded` for looks that open the app.
///
/// Signals are made an hour at a time, so memory does not grow with the time span.
struct LookSignals {
  private struct Device {
    var name: Identifier
    var zone: String
    var instances: [Identifier]
  }

  private let model: DeviceModel
  private let looks: LookModel
  private let devices: [Device]
  /// The start of the next hour whose signals are made, µs.
  private var hour: Int64
  /// The signals of the hour made last, in the order of time, and the place of the next one to hand out.
  private var batch: [Signal] = []
  private var place = 0
  /// The number of signals made so far; signal ids derive from it.
  private var serial = 0
  /// Signals that fall after the end of the hour in which their look was made.
  private var later: [Signal] = []
  /// The hours in the middle of a long gap for which no signals are made, µs.
  private var skipped: Range<Int64> = 0..<0

  /// The longest time after one record of the log, and before the next, for which looks are made, in µs. A longer gap
  /// between two records gets no looks in its middle: nothing changes there, and making each hour of 7,000 years took 424 s.
  static let gapMax = 14 * LocalDays.day

  /// Prepares the signals of measured devices. Under a trusting model, only devices with recorded looks send signals.
  /// - Parameters:
  ///   - streams: The measured instances, those of one device next to each other.
  ///   - from: The first instant, µs.
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

  /// Returns the next signal at or before an instant, or nil if there is none.
  /// - Parameter time: The time of the next record of the log, µs. Must not fall from call to call.
  mutating func next(upTo time: Int64) -> Signal? {
    if devices.isEmpty { return nil }
    skipGap(upTo: time)
    while place >= batch.count {
      if hour > time { return nil }
      make()
    }
    guard batch[place].time.microseconds <= time else { return nil }
    place += 1
    return batch[place - 1]
  }

  /// Leaves out whole hours in the middle of a gap, so that the hours made keep their distance from the first instant.
  private mutating func skipGap(upTo time: Int64) {
    guard skipped.isEmpty else { return }
    let gap = time.subtractingReportingOverflow(hour)
    guard !gap.overflow, gap.partialValue > 2 * Self.gapMax + LocalDays.hour else { return }
    let hours = (gap.partialValue - 2 * Self.gapMax) / LocalDays.hour
    skipped = hour + Self.gapMax..<hour + Self.gapMax + hours * LocalDays.hour
  }

  private mutating func make() {
    if hour == skipped.lowerBound {
      hour = skipped.upperBound
      skipped = 0..<0
    }
    let until = hour + LocalDays.hour
    batch = later.filter { $0.time.microseconds < until }
    later.removeAll { $0.time.microseconds < until }
    place = 0
    for device in devices {
      for look in looks.looks(at: device.name, zone: device.zone, from: hour, to: until) {
        tell(look, of: device, until)
      }
    }
    // In the order of time, signals of one instant in the order in which they were made.
    batch = batch.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    hour = until
  }

  /// Adds the signals of one look. The model draws which widgets the person sees, and whether they open the app.
  private mutating func tell(_ look: Int64, of device: Device, _ until: Int64) {
    if !model.hasBudgets {
      say(.widgetViewed(instance: nil), device, at: look, until)
      return
    }
    for instance in device.instances {
      var sees = model.random("sees", device.name, instance, "\(look)")
      if sees.unit() < model.seen(device: device.name, instance: instance) {
        say(.widgetViewed(instance: instance), device, at: look, until)
      }
    }
    if model.opensApp(device: device.name, look: look) {
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
