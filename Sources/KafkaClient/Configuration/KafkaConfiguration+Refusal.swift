extension KafkaConfiguration {
  /// The reasons for which librdkafka refuses a property.
  public enum Refusal: Sendable, Equatable, CustomStringConvertible {
    /// No property has that name.
    case unknownName
    /// The value is not accepted. It is secret, so the reason is left out.
    case secretValue
    /// The value is not accepted, with librdkafka's reason, which may repeat the value.
    case value(String)

    public var description: String {
      switch self {
      case .unknownName: "there is no property of that name"
      case .secretValue: "the value is not accepted (it is secret, so not shown)"
      case .value(let reason): reason
      }
    }
  }

  /// Checks a property on its own, without making a client.
  ///
  /// Rules between properties, such as SASL without a password, are checked only when a client is made.
  /// - Returns: the reason why librdkafka refuses the property; `nil` when it would be accepted.
  public static func refusal(of key: String, _ value: String) -> Refusal? {
    // An empty configuration is never refused, so this does not fail.
    guard let handle = try? ConfigurationHandle(KafkaConfiguration()) else { return .unknownName }
    return handle.refusal(of: key, value)
  }
}
