package import Installation

extension RealCluster {
  /// Makes the cluster as a stage uses it. Clients whose configuration has an interval of statistics show them in the metrics.
  ///
  /// - Parameters:
  ///   - role: The role of the stage.
  ///   - counters: The metrics of the process.
  package convenience init(_ role: Role, _ counters: PipelineCounters) {
    let clients = counters.clients
    self.init { clients.sink(KafkaMetrics.client(role, $0)) }
  }
}
