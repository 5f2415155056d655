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
