import Domain
import Serving

/// A file that belongs to every page. Its path holds a hash of its content, so browsers may keep it for ever.
struct PageAsset: Sendable {
  let path: String
  private let contentType: String
  private let bytes: [UInt8]

  static let styleSheet = PageAsset("console", "css", "text/css; charset=utf-8", PackageResources.console_css)
  /// The script. Every page works without it.
  static let script = PageAsset("console", "js", "text/javascript; charset=utf-8", PackageResources.console_js)
  static let icon = PageAsset("icon", "svg", "image/svg+xml", PackageResources.icon_svg)

  /// The digits of the hash in a path.
  private static let hashDigits = 12

  private init(_ name: String, _ suffix: String, _ contentType: String, _ bytes: [UInt8]) {
    path = "/assets/\(name)-\(SHA256.hexDigest(of: bytes).prefix(Self.hashDigits)).\(suffix)"
    self.contentType = contentType
    self.bytes = bytes
  }

  /// Returns the file with a path.
  ///
  /// - Throws: `Problem` if there is none, as for the file of another version of the program.
  static func answer(path: String) throws(Problem) -> HTTPAnswer {
    guard let asset = [styleSheet, script, icon].first(where: { $0.path == path }) else {
      throw Problem(.notFound, "there is no such file in this version; load the page anew")
    }
    return HTTPAnswer(
      status: 200, contentType: asset.contentType, headers: PageHeaders.asset, body: asset.bytes)
  }
}
