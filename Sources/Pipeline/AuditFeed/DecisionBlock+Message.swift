public import Domain
public import KafkaClient

extension DecisionBlock {
  /// Takes over a record of `rouse.decisions`.
  ///
  /// - Parameter message: The record, which may hold anything.
  public init(_ message: KafkaMessage) {
    self.init(message.value, count: message.headers.last { $0.name == Self.countHeader }?.value)
  }
}
