import Domain
import Observing
import Pipeline

/// The fleet and the events of the benchmarks that need a broker. They are synthetic, and equal parameters give equal
/// records.
///
/// Widget `i` of device `d` shows the subject `s/<i>/<d / fanOut>`, so an event reaches one widget on each of `fanOut`
/// consecutive devices. No subject repeats before every subject had an event. Log time advances so that each device
/// is reached about once an hour.
package struct FleetLoad: Sendable {
  /// The number of devices.
  package var devices: Int
  /// The number of widgets on each device.
  package var instances: Int
  /// The number of devices that an event reaches.
  package var fanOut: Int
  /// The number of events in a hundred that are worth a push.
  package var alertPercent: Int
  /// The number of events in a hundred that have a `traceparent` which says that they are sampled.
  package var tracedPercent = 0

  /// Creates a load.
  /// - Parameters:
  ///   - devices: at least 1.
  ///   - instances: widgets of each device, at least 1.
  ///   - fanOut: devices that an event reaches, from 1 to `devices`.
  ///   - alertPercent: events in a hundred that are worth a push, from 0 to 100.
  package init(devices: Int, instances: Int, fanOut: Int, alertPercent: Int) {
    precondition(devices > 0 && instances > 0 && fanOut > 0, "a load needs devices, widgets and a fan-out")
    self.devices = devices
    self.instances = instances
    self.fanOut = fanOut
    self.alertPercent = alertPercent
  }

  /// The policy document of the benchmarks: ``kinds`` kinds with equal rules.
  package static let policy =
    "version: bench.1\nprofile: apple-2026\nkinds:\n"
    + (0..<kinds).map { kind in
      """
        Bench\(kind):
          surface: widget
          budget: { perDay: 48, minInterval: 5m }
          halfLife: 20m
          displays: [ { field: data.level, round: 5 } ]
          rules:
            - event: bench.alert
              relevance: { base: 0.9 }
            - event: bench.level.changed
              relevance: { base: 0.02 }

      """
    }.joined()

  /// The number of widget kinds in ``policy``. Devices with more widgets use the kinds in turn.
  static let kinds = 3
  /// The log time of the registrations: 2026-07-01T12:00:00Z in microseconds.
  private static let start: Int64 = 1_782_907_200_000_000
  /// A prime larger than any number of subjects, so that its multiples visit every subject once before any repeats.
  private static let stride: UInt64 = 1_000_000_007

  /// The number of groups of consecutive devices. The devices of one group show the same subjects.
  private var groups: Int { (devices + fanOut - 1) / fanOut }

  /// The number of subjects.
  package var subjects: Int { instances * groups }

  /// The approximate size of a registration in the log, in bytes.
  package static let registrationBytes = 360
  /// The approximate size of an event in the log, in bytes.
  package static let eventBytes = 170
  /// The approximate size of an event as JSON in its public topic, in bytes.
  package static let publicEventBytes = 260

  /// Returns the registration of a device.
  /// - Parameter device: the device's number, from 0.
  func registration(_ device: Int) -> Registration {
    let zones = ["America/New_York", "America/Chicago", "America/Los_Angeles", "Europe/London", "Asia/Tokyo"]
    let widgets = (0..<instances).map { i in
      Registration.Widget(id: "w\(i)", kind: "Bench\(i % Self.kinds)", interests: ["s/\(i)/\(device / fanOut)"])
    }
    return Registration(
      device: Self.id(device), app: "com.example.bench", environment: .production, platform: "iOS",
      osVersion: OSVersion(major: 26), timeZone: zones[device % zones.count],
      tokens: Registration.Tokens(widgets: Self.token(device)), widgets: widgets,
      updatedAt: Timestamp(microseconds: Self.start))
  }

  /// Returns an event.
  /// - Parameters:
  ///   - number: the event's place in the sequence, from 0.
  ///   - id: the event's id; nil derives it from `number`.
  func event(_ number: Int, id: Identifier? = nil) -> DomainEvent {
    let (instance, group) = subject(number)
    let dice = Self.mix(UInt64(number))
    let isAlert = isAlert(number)
    return DomainEvent(
      id: id ?? "event-\(number)", source: "/bench", type: isAlert ? "bench.alert" : "bench.level.changed",
      subject: "s/\(instance)/\(group)", time: time(number),
      traceparent: Int(dice >> 24 % 100) < tracedPercent ? Self.traceparent(dice) : nil,
      fields: [
        EventField(path: "data.level", value: .number(level(after: number))),
        EventField(path: "data.previous", value: .number(Double(dice >> 16 % 50))),
      ])
  }

  /// Whether an event is worth a push.
  private func isAlert(_ number: Int) -> Bool { Int(Self.mix(UInt64(number)) % 100) < alertPercent }

  /// Returns the level of an event's subject after the event: that of its last alert, because the events in between repeat what the
  /// screens show. So many earlier events are looked at that the last alert of one subject in ten million is missed.
  private func level(after number: Int) -> Double {
    // Each subject has its next event when every subject had one.
    let alert = Swift.stride(from: number, through: 0, by: -subjects).prefix(
      alertPercent == 0 ? 0 : 1600 / alertPercent
    ).first(where: isAlert)
    return alert.map { Double(Self.mix(UInt64($0)) >> 8 % 90) } ?? 95
  }

  /// Returns the log time of an event.
  func time(_ number: Int) -> Timestamp {
    Timestamp(microseconds: Self.start + Int64(number + 1) * (3_600_000_000 / Int64(groups)))
  }

  /// Returns the log partitions of the devices that an event reaches, in ascending order.
  /// - Parameters:
  ///   - number: the event's place in the sequence.
  ///   - count: the number of log partitions.
  func partitions(of number: Int, count: Int) -> [Int32] {
    let group = subject(number).group
    let range = group * fanOut..<min(devices, (group + 1) * fanOut)
    // With 16 devices a partition, the chance that one partition has none is about one in ten million; checking is not
    // worth its time then.
    if count == 1 || range.count >= 16 * count { return (0..<Int32(count)).map { $0 } }
    return Set(range.map { DevicePartitioner.partition(of: Self.id($0), count: Int32(count)) }).sorted()
  }

  /// Returns the widget and the device group that an event is about.
  private func subject(_ number: Int) -> (instance: Int, group: Int) {
    let index = Int(UInt64(number) &* Self.stride % UInt64(subjects))
    return (index % instances, index / instances)
  }

  /// Returns the id of a device.
  static func id(_ device: Int) -> Identifier { "device-\(device)" }

  /// Returns 64 hexadecimal digits, as a push token has.
  private static func token(_ number: Int) -> String {
    let digits = String(mix(UInt64(number)) | 1 << 63, radix: 16)
    return digits + digits + digits + digits
  }

  /// Returns a `traceparent` whose ids depend on a number alone.
  private static func traceparent(_ number: UInt64) -> String {
    TraceContext(traceHigh: number | 1, traceLow: mix(number), span: mix(number) | 1, isSampled: true).traceparent
  }

  /// Returns 64 random bits that depend on a number alone.
  private static func mix(_ number: UInt64) -> UInt64 {
    var sequence = SplitMix64(state: number)
    return sequence.next()
  }
}
