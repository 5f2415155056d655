import Foundation

/// The path of a store in a new folder, which is removed with the value.
final class TemporaryStore {
  let path: String
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("audit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.appendingPathComponent("audit.sqlite").path
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}
