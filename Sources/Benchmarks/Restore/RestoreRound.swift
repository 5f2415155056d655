/// The sources from which a planner restores its state.
package enum RestoreSource: String, CaseIterable, Sendable {
  /// The compacted state topic.
  case topic
  /// A local snapshot, and the newer records of the state topic.
  case snapshot
}

/// The figures of one restore of a fleet.
package struct RestoreRound: Sendable {
  /// The source of the state.
  package var source: RestoreSource
  /// The time from the start of the first partition's restore to the end of the last one's.
  package var wallSeconds: Double
  /// The processor time of the whole process meanwhile.
  package var processorSeconds: Double
  /// The number of records read from the topic, or from the snapshot without the topic's newer records.
  package var records: Int
  /// The largest resident size of the process; nil if the system does not report it.
  package var peakBytes: Int?
}
