import ArgumentParser

/// The help of the options that name input files, the same for `rouse plan` and `rouse simulate`.
extension ArgumentHelp {
  /// The help of `--devices`.
  static let registrations = ArgumentHelp("Registrations, one a line.", valueName: "file")
  /// The help of `--events`.
  static let events = ArgumentHelp(
    "CloudEvents in structured mode, one a line, ordered by time.", valueName: "file")
  /// The help of `--signals`.
  static let signals = ArgumentHelp("CloudEvents rouse.signal.*, one a line, ordered by time.", valueName: "file")
}
