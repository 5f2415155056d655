public import ArgumentParser
import Domain
import Foundation
import JSON
public import Keys

/// The option `--file` of the commands on keys.
struct KeyFileOption: ParsableArguments {
  @Option(help: ArgumentHelp("The key file, as in the settings gateway.keys and console.keys.", valueName: "file"))
  var file: String

  /// Reads the key file.
  ///
  /// - Throws: ``Failure`` when the file is missing or is no key file.
  func read() throws -> KeyFile {
    guard Files.exists(file) else {
      throw Failure("\(file): there is no such file; rouse keys create makes it")
    }
    do throws(KeyFileError) { return try KeyFile(path: file) } catch { throw Failure("\(error)") }
  }

  /// The wall clock, in whole seconds.
  static var now: Timestamp { Timestamp(microseconds: Int64(Date().timeIntervalSince1970) * 1_000_000) }
}

extension KeyRole: ExpressibleByArgument {}

extension AccessKey {
  /// The state of the key at a time, in a word or two.
  func state(at now: Timestamp) -> String {
    if let revoked { return "revoked \(revoked)" }
    if !isValid(at: now) { return "expired" }
    return expires.map { "until \($0)" } ?? "for ever"
  }

  /// The things that the key is bound to, such as `sources /flights`; nil if there are none.
  var bounds: String? {
    let lists = [("sources", sources), ("types", types), ("subjects", subjects), ("apps", apps)]
    let words = lists.filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.joined(separator: ", "))" }
    return words.isEmpty ? nil : words.joined(separator: "; ")
  }

  /// Writes the key as a JSON object without its hash.
  ///
  /// - Parameters:
  ///   - json: The writer.
  ///   - secret: The secret of a key that was just made; nil for others.
  ///   - now: The time for the state of the key.
  func encode(to json: inout JSONWriter, secret: String? = nil, at now: Timestamp) {
    json.object { json in
      json.member("id", id)
      json.member("role", role.rawValue)
      json.member("key", secret)
      json.list("sources", sources)
      json.list("types", types)
      json.list("subjects", subjects)
      json.list("apps", apps)
      json.member("created", "\(created)")
      json.member("expires", expires.map { "\($0)" })
      json.member("revoked", revoked.map { "\($0)" })
      json.member("isValid", isValid(at: now))
    }
  }
}
