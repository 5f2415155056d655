/// A registration as the view has it.
public struct StoredDevice: Sendable, Equatable {
  /// The bundle id of the app.
  public var app: String
  /// The registration, as it was written to the topic.
  public var value: [UInt8]
}
