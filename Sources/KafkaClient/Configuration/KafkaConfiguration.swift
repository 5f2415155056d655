import CLibrdkafka

/// The properties of a client, under librdkafka's names, in the order in which they were given.
///
/// Every property of librdkafka's `CONFIGURATION.md` may be given, SASL and TLS included. librdkafka checks keys and values
/// when a client is made; the error names the first bad property.
public struct KafkaConfiguration: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  /// The properties, in the order in which they are applied. Each key occurs once.
  public private(set) var properties: [(key: String, value: String)]
  /// The properties of topics for which a producer does not use those of the client, by the topic's name. Only librdkafka's topic
  /// properties may be given; they are checked at the first record for the topic.
  public var topicProperties: [String: KafkaConfiguration] = [:]

  /// Makes a configuration.
  /// - Parameter properties: Keys and values. If a key occurs twice, the later value holds.
  public init(_ properties: [(key: String, value: String)] = []) {
    self.properties = []
    for (key, value) in properties { self[key] = value }
  }

  /// Makes a configuration from a literal. If a key occurs twice, the later value holds.
  public init(dictionaryLiteral properties: (String, String)...) {
    self.init(properties.map { (key: $0, value: $1) })
  }

  /// The value of a property; `nil` when the property was not given. Setting `nil` removes the property.
  /// - Parameter key: The property's name, compared as it is written.
  public subscript(key: String) -> String? {
    get { properties.first { $0.key == key }?.value }
    set {
      let index = properties.firstIndex { $0.key == key }
      switch (index, newValue) {
      case (let index?, let value?): properties[index].value = value
      case (let index?, nil): properties.remove(at: index)
      case (nil, let value?): properties.append((key, value))
      case (nil, nil): break
      }
    }
  }

  /// Returns this configuration with the properties of another one added.
  /// - Parameter other: The properties to add. Where both have a key, the other's value holds. All its properties of a topic
  ///   replace those of the same topic.
  public func merging(_ other: KafkaConfiguration) -> KafkaConfiguration {
    var merged = self
    for (key, value) in other.properties { merged[key] = value }
    merged.topicProperties.merge(other.topicProperties) { _, other in other }
    return merged
  }

  /// Compares keys, values and their order, and the properties of topics.
  public static func == (left: KafkaConfiguration, right: KafkaConfiguration) -> Bool {
    left.properties.elementsEqual(right.properties) { $0 == $1 } && left.topicProperties == right.topicProperties
  }
}

extension KafkaConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// `key=value` pairs in order, secrets replaced by `***`.
  public var description: String {
    properties.map { "\($0.key)=\(Self.isSecret($0.key) ? "***" : $0.value)" }.joined(separator: ", ")
  }

  /// The same text as ``description``.
  public var debugDescription: String { description }

  /// Shows what ``description`` shows, so that `dump` and a debugger print no secret either.
  public var customMirror: Mirror {
    Mirror(self, children: ["properties": description])
  }

  /// Whether the value of a property must not be printed, because it is or may contain a password, a secret or a private key.
  /// - Parameter key: The property's name, in any case.
  public static func isSecret(_ key: String) -> Bool {
    let key = key.lowercased()
    return key.contains("password") || key.contains("secret") || key.contains("private")
      || ["ssl.key.pem", "ssl_key", "sasl.oauthbearer.config", "sasl.kerberos.kinit.cmd"].contains(key)
  }
}

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

/// Receives librdkafka's statistics of one client as a JSON document, every `statistics.interval.ms`, on the thread that polls the
/// client, while it polls. Its members are described in librdkafka's `STATISTICS.md`.
public typealias KafkaStatisticsSink = ([UInt8]) -> Void

/// A line of librdkafka's own log.
public struct KafkaLogLine: Sendable, Hashable {
  /// The syslog level: 0 emergency … 3 error, 4 warning, 5 notice, 6 info, 7 debug.
  public var level: Int32
  /// The part of librdkafka that logged the line, such as `FAIL` or `REBALANCE`.
  public var facility: String
  /// The text.
  public var message: String
}

/// Receives librdkafka's log lines, on the thread that polls the client, while it polls.
public typealias KafkaLogSink = (KafkaLogLine) -> Void

/// The librdkafka that this program runs with.
public enum KafkaLibrary {
  /// The version of the loaded library, such as `2.0.2`.
  public static var version: String {
    // `rd_kafka_version_str` answers a static NUL-terminated string.
    unsafe String(cString: rd_kafka_version_str())
  }
}
