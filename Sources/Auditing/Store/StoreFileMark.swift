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

/// Notices that the file at a path has been replaced by another one, or moved away. Belongs to one thread.
///
/// An open database goes on with the file that it has, whatever its name is by then.
public struct FileWatch {
  /// The time for which a look at the path is good enough.
  private static let interval = Duration.seconds(1)
  private let path: String
  private let mark: StoreFileMark?
  private var lookedAt = ContinuousClock.now

  /// Begins with the file that is there now. Call it before the file is opened.
  ///
  /// - Parameter path: The path. Links are followed.
  public init(path: String) {
    self.path = path
    mark = StoreFileMark(of: path)
  }

  /// Returns whether the file is another one, or gone. Looks at the disk once a second at most.
  ///
  /// - Parameter now: The time.
  public mutating func isReplaced(now: ContinuousClock.Instant = .now) -> Bool {
    guard now - lookedAt >= Self.interval else { return false }
    lookedAt = now
    return StoreFileMark(of: path) != mark
  }
}
