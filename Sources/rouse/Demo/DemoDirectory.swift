import Domain
import Foundation

/// The directory of the demo's audit store.
struct DemoDirectory {
  let path: String
  let isKept: Bool

  /// - Parameter keep: the directory to keep; nil makes a temporary one.
  /// - Throws: ``Failure`` when it cannot be made, or holds a store already.
  init(keep: String?) throws {
    path = keep ?? NSTemporaryDirectory() + "rouse-demo-\(ProcessInfo.processInfo.processIdentifier)"
    isKept = keep != nil
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw Failure("cannot make \(path): \((error as NSError).localizedDescription)")
    }
    if FileManager.default.fileExists(atPath: path + "/audit.sqlite") {
      throw Failure("\(path) holds an audit store already; name another directory with --keep")
    }
  }

  /// Removes the directory if it is a temporary one.
  func removeUnlessKept() {
    guard !isKept else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Words.say("rouse: \(path) could not be removed: \((error as NSError).localizedDescription)")
    }
  }
}
