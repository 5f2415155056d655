import ArgumentParser

/// The files that both `rouse plan` and `rouse simulate` read.
extension ArgumentHelp {
  /// `--devices`.
  static let registrations = ArgumentHelp("Registrations, one a line.", valueName: "file")
  /// `--events`.
  static let events = ArgumentHelp(
    "CloudEvents in structured mode, one a line, ordered by time.", valueName: "file")
  /// `--signals`.
  static let signals = ArgumentHelp("CloudEvents rouse.signal.*, one a line, ordered by time.", valueName: "file")
}
