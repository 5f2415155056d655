package import Domain
import Planning

/// A part of the devices, chosen by a hash of their ids: the same devices on every machine and in every command. A larger sample
/// contains a smaller one.
package struct DeviceSample: Sendable {
  private let share: Double

  /// Describes a sample.
  /// - Parameter share: The share of the devices, above 0; 1 for all.
  package init(_ share: Double) { self.share = share }

  /// Returns whether a device is in the sample.
  package func holds(_ device: Identifier) -> Bool {
    var random = SplitMix64(state: Hash64.of(device))
    return share >= 1 || random.next() < UInt64(max(0, share) * 0x1p64)
  }
}
