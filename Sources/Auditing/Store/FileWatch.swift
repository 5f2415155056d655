import Foundation

/// Notices that the file at a path has been replaced by another one, or moved away. Belongs to one thread.
///
/// An open database goes on with the file that it has, whatever its name is by then.
public struct FileWatch {
  /// The signs by which a file is told from others.
  private struct FileNumbers: Equatable {
    var device, number: Int
  }

  /// The time for which a look at the path is good enough.
  private static let interval = Duration.seconds(1)
  private let path: String
  private var mark: FileNumbers?
  private var lookedAt = ContinuousClock.now

  /// Begins with the file that is there now. Call it before the file is opened.
  ///
  /// - Parameter path: The path. Links are followed.
  public init(path: String) {
    self.path = path
    mark = Self.mark(of: path)
  }

  /// Returns whether the file is another one, or gone. Looks at the disk once a second at most.
  ///
  /// - Parameter now: The time.
  public mutating func isReplaced(now: ContinuousClock.Instant = .now) -> Bool {
    guard now - lookedAt >= Self.interval else { return false }
    lookedAt = now
    return Self.mark(of: path) != mark
  }

  private static func mark(of path: String) -> FileNumbers? {
    let file = URL(filePath: path).resolvingSymlinksInPath().path
    // A file that cannot be looked at counts as gone: opening it tells the reason.
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: file),
      let device = attributes[.systemNumber] as? Int, let number = attributes[.systemFileNumber] as? Int
    else { return nil }
    return FileNumbers(device: device, number: number)
  }
}
