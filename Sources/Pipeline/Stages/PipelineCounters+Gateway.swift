import Installation
public import KafkaClient

/// The parts of the figures that the gateway sets, whose module does not know this one.
extension PipelineCounters {
  /// The only thread of the gateway that probes look at.
  private static let gateway = PipelineStatus.StageThread(role: .gateway, number: 0)

  /// Notes a turn of the thread of the gateway's producer.
  ///
  /// - Parameter now: The wall clock, in µs since 1970.
  public func gatewayTurned(at now: Int64) { status.turned(Self.gateway, at: now) }

  /// Forgets the thread of the gateway's producer, which has ended.
  public func gatewayEnded() { status.ended(Self.gateway) }

  /// Returns a receiver of the statistics of the gateway's producer.
  public func gatewayStatistics() -> KafkaStatisticsSink { clients.sink(KafkaMetrics.client(.gateway, .producer)) }
}
