/// A failure in the temporary folder, where the check keeps records that do not fit into memory.
public struct LedgerCheckError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The temporary folder that holds the file.
  public var path: String
  /// The cause in the words of the operating system.
  public var reason: String

  /// The cause, the folder and the remedy in one sentence.
  public var description: String {
    "a temporary file in \(path): \(reason); make room there, or name another folder in the environment variable TMPDIR"
  }

  /// Returns the error for a temporary file whose content changed after it was written.
  static func damaged(_ path: String) -> LedgerCheckError {
    LedgerCheckError(path: path, reason: "what was written there reads differently")
  }
}
