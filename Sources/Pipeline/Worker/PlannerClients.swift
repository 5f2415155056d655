import Installation
import KafkaClient

/// The connections of a working planner thread. All of them belong to that thread.
struct PlannerClients {
  /// Reads the log as a member of the planners' group.
  let consumer: any ClusterConsumer
  /// Writes what was decided.
  let transaction: PlannerTransaction
  /// Reads the state of partitions that are being restored.
  let reader: StateReader
  /// The number of partitions of the log.
  let partitionCount: Int32
}
