import JSON

/// Reads the values of `rouse.devices`. Keeps its buffers: one per thread.
public final class RegistrationDecoder {
  private let reader = JSONReader(bytesMax: DomainBounds.recordBytesMax, nestingMax: DomainBounds.nestingMax)
  private let timeZoneExists: (String) -> Bool

  /// - Parameter timeZoneExists: whether an IANA time zone id is in the database.
  public init(timeZoneExists: @escaping (String) -> Bool = TimeZoneNames.exists) {
    self.timeZoneExists = timeZoneExists
  }

  /// - Parameters:
  ///   - value: JSON.
  ///   - key: the record's key; where there is one it must be the device.
  public func decode(_ value: [UInt8], key: [UInt8]? = nil) throws(DomainError) -> Registration {
    let registration = try reader.read(value) { (node: JSONNode) throws(DomainError) in
      try Registration(node, timeZoneExists: timeZoneExists)
    }
    try Registration.requireDevice(registration.device, path: "$.device")
    if let key, !key.elementsEqual(registration.device.utf8) {
      throw DomainError(
        .keyMismatch, path: "$.device",
        message: "expected the record's key \"\(String(decoding: key.prefix(64), as: UTF8.self))\", "
          + "found \"\(registration.device)\"")
    }
    return registration
  }
}
