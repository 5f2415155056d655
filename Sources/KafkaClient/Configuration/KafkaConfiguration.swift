/// The properties of a client, as librdkafka knows them, in the order in which they were given.
///
/// Every property of librdkafka's `CONFIGURATION.md` may be given, SASL and TLS included. Keys and values are
/// checked when a client is made from them; a bad one is reported by its name.
public struct KafkaConfiguration: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  /// The properties, in the order in which they are applied. A key stands here once.
  public private(set) var properties: [(key: String, value: String)]

  /// Makes a configuration; where a key comes twice, the later value holds.
  public init(_ properties: [(key: String, value: String)] = []) {
    self.properties = []
    for (key, value) in properties { self[key] = value }
  }

  public init(dictionaryLiteral properties: (String, String)...) {
    self.init(properties.map { (key: $0, value: $1) })
  }

  /// The value of a property; `nil` when it was not given. Setting `nil` takes the property away.
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

  /// This configuration with another's properties on top; where both have a key, the other's value holds.
  public func merging(_ other: KafkaConfiguration) -> KafkaConfiguration {
    var merged = self
    for (key, value) in other.properties { merged[key] = value }
    return merged
  }

  public static func == (left: KafkaConfiguration, right: KafkaConfiguration) -> Bool {
    left.properties.elementsEqual(right.properties) { $0 == $1 }
  }
}

extension KafkaConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// `key=value` pairs in order, secrets replaced by `***`.
  public var description: String {
    properties.map { "\($0.key)=\(Self.isSecret($0.key) ? "***" : $0.value)" }.joined(separator: ", ")
  }

  public var debugDescription: String { description }

  /// Shows what ``description`` shows, so that `dump` and a debugger print no secret either.
  public var customMirror: Mirror {
    Mirror(self, children: ["properties": description])
  }

  /// Whether the value of this property must not be printed: passwords, secrets, private keys, and what may hold one.
  public static func isSecret(_ key: String) -> Bool {
    let key = key.lowercased()
    return key.contains("password") || key.contains("secret") || key.contains("private")
      || ["ssl.key.pem", "ssl_key", "sasl.oauthbearer.config", "sasl.kerberos.kinit.cmd"].contains(key)
  }
}
