import JSON

/// The beginning of the report of a benchmark with a broker: the machine, the broker, the planners and the fleet.
struct BenchReportHead {
  /// The broker's address and properties, without secrets.
  var broker: String
  /// The number of partitions of each topic.
  var partitions: Int
  /// The number of planner threads of a process.
  var workers: Int
  /// The number of devices of the fleet.
  var devices: Int
  /// The number of widgets of each device.
  var instances: Int

  /// The line about the broker, without its end.
  var brokerLine: String {
    "broker    \(broker), \(Digits.count(partitions, "partition")), \(Digits.count(workers, "planner"))"
  }

  /// Returns the lines of the report.
  /// - Parameters:
  ///   - planners: More words about the planners.
  ///   - fleet: More words about the fleet and its events.
  func text(planners: String = "", fleet: String = "") -> String {
    """
    \(BenchMachine.lines)
    \(brokerLine)\(planners)
    fleet     \(Digits.count(devices, "device")) × \(instances)\(fleet)

    """
  }

  /// Writes the members of an open JSON object.
  func write(to json: inout JSONWriter) {
    BenchMachine.write(to: &json)
    json.member("broker", broker)
    json.members([
      ("partitions", partitions), ("workers", workers), ("devices", devices), ("instancesPerDevice", instances),
    ])
  }
}
