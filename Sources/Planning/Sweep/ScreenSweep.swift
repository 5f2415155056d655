import Domain
import Policies

/// A slow walk over the devices of a partition, which sums up what no event tells: how many screens are wrong and for how long, what
/// reloads would be worth, and what tokens cost. All of that changes while nothing happens, so it cannot be counted event by event.
///
///     slice ── other work ── slice ── … ── slice ──► ScreenFigures, and the next sweep begins
///
/// - **It only reads.** `Planner.sweep` is not `mutating`, and a sweep is no part of the planner. So no decision and no state can depend
///   on it, nor on how often it runs.
/// - **Its cost is bounded.** A slice visits about `sliceMax` instances, which takes a fraction of a millisecond. The owner says when the
///   next slice may run, so it also sets the share of time that sweeps take.
/// - **It samples.** A partition with more than `devicesMax` device slots is divided into blocks of `stride` slots. The sweep visits one
///   device of each block, chosen by a hash of the block and the number of the sweep, and counts it `stride` times. So counts and sums
///   are right on average, and an error of a share is about 1 / √`devicesMax` = 0.4 %. Each sweep chooses other devices.
/// - **It is no snapshot.** The devices are seen one after the other, each as it is at its visit.
///
/// A sweep is dropped with its planner, and begins anew with the next one.
package struct ScreenSweep: Sendable {
  /// The largest number of devices that one sweep visits.
  /// - Beyond: one device of several is visited and counts for all of them; `rouse_sweep_stride` says of how many.
  package static let devicesMax = 65_536
  /// The number of devices and instances that one slice visits; the last device is visited whole.
  /// - Beyond: the next slice goes on.
  static let sliceMax = 256

  /// The figures of the sweep so far, by kind slot.
  var kinds: ContiguousArray<ScreenFigures.Kind> = []
  /// The number of device slots of which one is visited.
  private(set) var stride = 1
  private var number: UInt64 = 0
  private var block = 0

  /// Makes the first sweep of a partition, which has visited nothing.
  package init() {}

  /// Returns the next device to visit; nil when the sweep is complete.
  ///
  /// - Parameter slots: The number of device slots, free ones included.
  mutating func next(slots: Int) -> DeviceSlot? {
    if block == 0 { stride = max(1, (slots + Self.devicesMax - 1) / Self.devicesMax) }
    let first = block * stride
    guard first < slots else { return nil }
    defer { block += 1 }
    if stride == 1 { return DeviceSlot(UInt32(first)) }
    var hash = Hash64()
    hash.add(number)
    hash.add(UInt64(block))
    let slot = first + Int(hash.value % UInt64(stride))
    // A slot behind the last one stands for no device, as a free slot does.
    return slot < slots ? DeviceSlot(UInt32(slot)) : .absent
  }

  /// Completes the sweep, and begins the next one.
  ///
  /// - Parameter kind: Returns the name and the objective of a kind.
  /// - Returns: The figures of all devices, the visited ones counted for those that were not.
  mutating func finish(_ kind: (KindSlot) -> (name: Identifier, objective: FreshnessObjective?)) -> ScreenFigures {
    var figures = ScreenFigures(stride: stride)
    for place in kinds.indices where kinds[place].instances + kinds[place].zombies > 0 {
      (kinds[place].name, kinds[place].objective) = kind(KindSlot(UInt32(place)))
      figures.kinds.append(kinds[place].times(stride))
    }
    kinds.removeAll(keepingCapacity: true)
    number &+= 1
    block = 0
    return figures
  }
}
