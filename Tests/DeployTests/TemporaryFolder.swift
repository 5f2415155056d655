import Foundation

/// A folder that is removed with its owner.
final class TemporaryFolder {
  let url = FileManager.default.temporaryDirectory.appending(path: "rouse-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The path of the folder.
  var path: String { url.path }
}
