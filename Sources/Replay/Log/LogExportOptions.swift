package import Domain

/// The part of a log that an export takes, and the files that it writes.
package struct LogExportOptions: Sendable {
  /// The path for the registrations.
  package var devices: String
  /// The path for the events.
  package var events: String
  /// The path for the signals.
  package var signals: String
  /// The devices to take.
  package var sample: DeviceSample
  /// The first log time to take events and signals from; nil for the beginning of the log.
  package var from: Timestamp?
  /// The first log time that is not taken any more.
  package var to: Timestamp
  /// The folder for what is sorted on the way: registrations and signals of the sample. Nobody else may read it.
  package var spoolFolder: String

  /// Describes an export.
  /// - Parameters:
  ///   - devices: The path for the registrations.
  ///   - events: The path for the events.
  ///   - signals: The path for the signals.
  ///   - sample: The devices to take.
  ///   - from: The first log time to take events and signals from; nil for the beginning of the log.
  ///   - to: The first log time that is not taken any more.
  ///   - spoolFolder: A folder of the caller, who removes it.
  package init(
    devices: String, events: String, signals: String, sample: DeviceSample, from: Timestamp?, to: Timestamp,
    spoolFolder: String
  ) {
    self.devices = devices
    self.events = events
    self.signals = signals
    self.sample = sample
    self.from = from
    self.to = to
    self.spoolFolder = spoolFolder
  }
}
