import Domain
import Foundation
import KafkaClient
import Pipeline

/// The fleet and the events of the benchmarks that need a broker: made up, and the same for the same numbers.
///
/// Widget `i` of device `d` shows the subject `s/<i>/<d / fanOut>`, so an event reaches one widget each of `fanOut` devices
/// that follow one another. Every subject has its turn before one comes again, and log time runs so that a device hears
/// of something once an hour.
struct BenchLoad: Sendable {
  var devices: Int
  /// Widgets of each device.
  var instances: Int
  /// Devices that an event reaches.
  var fanOut: Int
  /// Of a hundred events this many are worth a push.
  var alertPercent: Int

  /// The policy's document: as many kinds as there may be, all alike.
  static let policy =
    "version: bench.1\nprofile: apple-2026\nkinds:\n"
    + (0..<kinds).map { kind in
      """
        Bench\(kind):
          surface: widget
          budget: { perDay: 48, minInterval: 5m }
          halfLife: 20m
          displays: [ { field: data.level, round: 5 } ]
          price: { base: 0.05 }
          rules:
            - event: bench.alert
              relevance: { base: 0.9 }
            - event: bench.level.changed
              relevance: { base: 0.02 }

      """
    }.joined()

  static let kinds = 3
  /// 2026-07-01T12:00:00Z, µs
  private static let start: Int64 = 1_782_907_200_000_000
  /// Larger than any count of subjects, and prime, so that its multiples visit every subject once.
  private static let stride: UInt64 = 1_000_000_007

  private var groups: Int { (devices + fanOut - 1) / fanOut }

  /// About how many bytes a registration and an event take in the log.
  static let registrationBytes = 360
  static let eventBytes = 170
  /// As published, before intake has read it.
  static let publicEventBytes = 260

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

  /// - Parameter id: of the event; its number when nil.
  func event(_ number: Int, id: String? = nil) -> DomainEvent {
    let (instance, group) = subject(number)
    let dice = Self.mix(UInt64(number))
    let isAlert = Int(dice % 100) < alertPercent
    return DomainEvent(
      id: id ?? "event-\(number)", source: "/bench", type: isAlert ? "bench.alert" : "bench.level.changed",
      subject: "s/\(instance)/\(group)", time: time(number),
      fields: [
        // What is worth little is often no news at all.
        EventField(path: "data.level", value: .number(isAlert ? Double(dice >> 8 % 90) : 95)),
        EventField(path: "data.previous", value: .number(Double(dice >> 16 % 50))),
      ])
  }

  /// Log time of an event.
  func time(_ number: Int) -> Timestamp {
    Timestamp(microseconds: Self.start + Int64(number + 1) * (3_600_000_000 / Int64(groups)))
  }

  /// The log partitions of the devices that an event reaches.
  func partitions(of number: Int, count: Int) -> [Int32] {
    let group = subject(number).group
    let range = group * fanOut..<min(devices, (group + 1) * fanOut)
    // So many devices leave no partition out but by a chance of one in a million.
    if count == 1 || range.count >= 16 * count { return (0..<Int32(count)).map { $0 } }
    return Set(range.map { DevicePartitioner.partition(of: Self.id($0), count: Int32(count)) }).sorted()
  }

  private func subject(_ number: Int) -> (instance: Int, group: Int) {
    let index = Int(UInt64(number) &* Self.stride % UInt64(instances * groups))
    return (index % instances, index / instances)
  }

  static func id(_ device: Int) -> String { "device-\(device)" }

  private static func token(_ number: Int) -> String {
    let digits = String(mix(UInt64(number)) | 1 << 63, radix: 16)
    return digits + digits + digits + digits
  }

  /// SplitMix64's finaliser.
  private static func mix(_ number: UInt64) -> UInt64 {
    var z = (number &+ 1) &* 0x9e37_79b9_7f4a_7c15
    z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
    return z ^ z >> 31
  }
}

/// Puts a load into the log, as intake does.
final class BenchFeeder {
  private let load: BenchLoad
  private let log: String
  private let partitions: Int
  private let producer: KafkaProducer
  private var bytes: [UInt8] = []

  init(_ load: BenchLoad, kafka: KafkaConfiguration, log: String, partitions: Int) throws(KafkaError) {
    self.load = load
    self.log = log
    self.partitions = partitions
    producer = try KafkaProducer(
      kafka.merging(["enable.idempotence": "true", "linger.ms": "5", "compression.type": "lz4"]),
      queueFullTimeout: .seconds(60))
  }

  func feedFleet() throws {
    for device in 0..<load.devices {
      let registration = load.registration(device)
      try send(
        LogRecord(
          origin: Origin(topic: "devices", partition: 0, offset: Int64(device)), content: .registration(registration)),
        to: DevicePartitioner.partition(of: registration.device, count: Int32(partitions)),
        key: Array(registration.device.utf8), time: registration.updatedAt)
    }
    try deliver()
  }

  /// - Returns: how many records they became: an event goes to every partition that has an interested device.
  func feedEvents(_ range: Range<Int>) throws -> Int {
    var count = 0
    for number in range {
      let event = load.event(number)
      let record = LogRecord(
        origin: Origin(topic: "events", partition: 0, offset: Int64(number)), content: .event(event))
      for partition in load.partitions(of: number, count: partitions) {
        try send(record, to: partition, key: nil, time: event.time)
        count += 1
      }
    }
    try deliver()
    return count
  }

  private func send(_ record: LogRecord, to partition: Int32, key: [UInt8]?, time: Timestamp) throws(KafkaError) {
    bytes.removeAll(keepingCapacity: true)
    record.encode(into: &bytes)
    let value = bytes
    try producer.send(
      topic: log, partition: partition, key: key, value: value.span, timestampMilliseconds: time.milliseconds)
  }

  private func deliver() throws {
    guard try producer.flush(timeout: .seconds(120)) else {
      throw Failure("the broker did not take the benchmark's input within 120 s")
    }
    if let failure = producer.takeDeliveryFailures().first?.error { throw failure }
  }
}
