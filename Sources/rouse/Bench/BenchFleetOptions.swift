import ArgumentParser
import Benchmarks
import Domain

/// The options that describe the fleet and the events of the benchmarks that plan against a broker.
struct BenchFleetOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Devices of the fleet.", valueName: "count"))
  var devices = 100_000
  @Option(help: ArgumentHelp("Widgets of each device, 1 to 64.", valueName: "count"))
  var instances = 3
  @Option(help: ArgumentHelp("Devices that each event reaches.", valueName: "count"))
  var fanOut = 1
  @Option(help: ArgumentHelp("How many of a hundred events are worth a push.", valueName: "count"))
  var alerts = 39

  func validate() throws {
    try BenchLimits.check("--devices", devices, 1...10_000_000)
    try BenchLimits.check("--instances", instances, 1...DomainBounds.instancesPerDeviceMax)
    try BenchLimits.check("--fan-out", fanOut, 1...devices)
    try BenchLimits.check("--alerts", alerts, 0...100)
  }

  var load: FleetLoad { FleetLoad(devices: devices, instances: instances, fanOut: fanOut, alertPercent: alerts) }
}
