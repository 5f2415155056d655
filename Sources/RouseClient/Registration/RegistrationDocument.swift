import Foundation

/// A registration as the gateway takes it: `schemas/registration.schema.json`.
struct RegistrationDocument: Encodable {
  /// The device.
  var device: String
  /// The bundle id of the app.
  var app: String
  /// The environment of APNs.
  var environment: APNsEnvironment
  /// The time of the registration.
  var updatedAt: ServerTime
  /// The other fields.
  var registration: DeviceRegistration

  private enum CodingKeys: String, CodingKey { case device, app, environment, updatedAt }

  func encode(to encoder: any Encoder) throws {
    try registration.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(device, forKey: .device)
    try container.encode(app, forKey: .app)
    try container.encode(environment, forKey: .environment)
    try container.encode(updatedAt.text, forKey: .updatedAt)
  }
}
