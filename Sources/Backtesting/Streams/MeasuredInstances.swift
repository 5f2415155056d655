import Domain

/// An index of the measured instances by device and instance id.
struct MeasuredInstances {
  private struct Name: Hashable {
    var device: Identifier
    var instance: Identifier
  }
  private var indices: [Name: Int] = [:]

  /// Creates the index of streams, which it names by their places.
  init(_ streams: [InstanceStream]) {
    for (index, stream) in streams.enumerated() {
      indices[Name(device: stream.device, instance: stream.instance)] = index
    }
  }

  /// Returns the place of an instance's stream; nil for an instance that is not measured.
  func index(device: Identifier, instance: Identifier) -> Int? { indices[Name(device: device, instance: instance)] }
}
