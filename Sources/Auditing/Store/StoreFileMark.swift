import Foundation

/// The signs by which a file is told from others, whatever its name is by then.
public struct StoreFileMark: Hashable, Sendable {
  private let device, number: Int

  /// Marks the file at a path.
  /// - Parameter path: The path. Links are followed.
  /// - Returns: nil if there is none, or if it cannot be looked at: opening it tells the reason.
  public init?(of path: String) {
    let file = URL(filePath: path).resolvingSymlinksInPath().path
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: file),
      let device = attributes[.systemNumber] as? Int, let number = attributes[.systemFileNumber] as? Int
    else { return nil }
    (self.device, self.number) = (device, number)
  }
}
