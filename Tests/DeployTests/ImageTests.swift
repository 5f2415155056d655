import Foundation
import JSON
import Testing

@Suite("Image", .enabled(if: Tool("buildah") != nil && getuid() == 0, "needs Debian's buildah, and root"))
struct ImageTests {
  @Test("the image runs its program, as a user who is not root, and holds no shell")
  func image() throws {
    let place = try TemporaryFolder()
    let archive = "\(place.path)/rouse.tar"
    let words = try Tool.words(
      ["deploy/image.sh", "--program", Tool.rouse, "--output", archive, "--tag", "rouse:test"])
    #expect(words.contains("\(archive): rouse:test, "), "\(words)")
    #expect(words.contains("; rouse 0.1.0"), "\(words)")
    for name in ["manifest.json", "*.json"] {
      _ = try Tool.words(["tar", "-xf", archive, "-C", place.path, "--wildcards", name])
    }
    let manifest = try JSONValue(parsing: Tool.words(["cat", "\(place.path)/manifest.json"]))
    let name = try #require(manifest[0]?["Config"]?.text)
    let config = try JSONValue(parsing: Tool.words(["cat", "\(place.path)/\(name)"]))["config"]
    #expect(config?["User"]?.text == "10001:10001")
    #expect(config?["Entrypoint"] == .array([.string("/usr/bin/rouse")]))
    #expect(config?["WorkingDir"]?.text == "/var/lib/rouse")
    let layer = try #require(manifest[0]?["Layers"]?[0]?.text)
    _ = try Tool.words(["tar", "-xf", archive, "-C", place.path, layer])
    let files = try Tool.words(["tar", "-tvf", "\(place.path)/\(layer)"])
    for needed in [
      "usr/share/zoneinfo/America/New_York", "etc/ssl/certs/ca-certificates.crt", "usr/share/doc/librdkafka1/copyright",
    ] { #expect(files.contains(needed), "\(needed)") }
    for other in ["bin/sh", "bin/bash"] { #expect(!files.contains(other), "\(other)") }
    #expect(files.contains(#/drwxr-x--- 10001/10001 +0 .* var/lib/rouse/#), "\(files)")
    // Nothing runs with another user's rights.
    #expect(!files.contains(#/\n-..s|\n-.....s/#))
  }
}
