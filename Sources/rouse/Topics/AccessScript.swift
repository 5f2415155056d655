import Domain
import JSON
import Operating

/// The permissions of a principal, as a shell script and as JSON.
struct AccessScript {
  let principal: String
  let roles: [AccessRole]
  /// One rule for each resource.
  let rules: [AccessRule]
  /// The brokers' addresses, for the script.
  let bootstrap: String

  /// A line for `kafka-acls.sh` for each set of operations, with all resources of a kind that need it. The tool takes seconds to
  /// start, so few lines are better.
  var text: PrintableText {
    var lines: [PrintableText] = ["# \(principal): \(roles.map(\.rawValue).joined(separator: ", "))"]
    var done: Set<AccessRule> = []
    for rule in rules where !done.contains(rule) {
      let alike = rules.filter { other in
        other.resource.kind == rule.resource.kind && other.resource.isPrefix == rule.resource.isPrefix
          && other.operations == rule.operations
      }
      done.formUnion(alike)
      lines.append(line(rule, alike.map(\.resource.name)))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func line(_ rule: AccessRule, _ names: [String]) -> PrintableText {
    let operations = rule.operations.sorted().map { " --operation \($0.rawValue)" }.joined()
    let pattern = rule.resource.isPrefix ? " --resource-pattern-type prefixed" : ""
    let resources = names.map { " \(rule.resource.kind.option) \(Self.quoted($0))" }.joined()
    return
      "kafka-acls.sh --bootstrap-server \(Self.quoted(bootstrap)) \"$@\" --add --allow-principal \(Self.quoted(principal))\(operations)\(pattern)\(resources)"
  }

  /// An array with one object for each operation on a resource.
  var json: [UInt8] {
    var json = JSONWriter()
    json.beginArray()
    for rule in rules {
      for operation in rule.operations.sorted() {
        json.object { json in
          json.member("principal", principal)
          json.member("host", "*")
          json.member("permission", "Allow")
          json.member("operation", operation.rawValue)
          json.member("resource", rule.resource.kind.rawValue)
          json.member("pattern", rule.resource.isPrefix ? "Prefixed" : "Literal")
          json.member("name", rule.resource.name)
        }
      }
    }
    json.endArray()
    return json.bytes
  }

  /// Returns a word of a shell command.
  private static func quoted(_ text: String) -> String {
    let plain = text.utf8.allSatisfy { byte in
      let scalar = Unicode.Scalar(byte)
      return scalar.properties.isAlphabetic && byte < 0x80 || ("0"..."9").contains(scalar)
        || "-._:,/".utf8.contains(byte)
    }
    return plain && !text.isEmpty ? text : "'\(text.replacing("'", with: #"'\''"#))'"
  }
}

extension AccessRule.ResourceKind {
  /// The option of `kafka-acls.sh` that names a resource of the kind.
  fileprivate var option: String {
    switch self {
    case .topic: "--topic"
    case .group: "--group"
    case .transactionalID: "--transactional-id"
    }
  }
}
