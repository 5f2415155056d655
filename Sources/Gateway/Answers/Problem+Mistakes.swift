import Domain
import Serving

extension Problem.Mistake {
  /// Makes a mistake from the reason of a dead letter.
  ///
  /// - Parameters:
  ///   - error: The reason.
  ///   - index: The index of the record in a batch; nil if the request has no batch.
  ///   - isBinary: Whether the attributes of the event are headers.
  init(_ error: DomainError, index: Int? = nil, isBinary: Bool = false) {
    self.init(index: index, code: error.code.rawValue, detail: error.description)
    if error.path.hasPrefix("ce_") {
      header = "ce-\(error.path.dropFirst(3))"
    } else if error.path == "time", isBinary {
      header = "ce-time"
    } else if error.path == "content-type" {
      header = error.path
    } else if let place = JSONPointer.text(ofPath: error.path) {
      pointer = (index.map { "/\($0)" } ?? "") + place
    }
  }
}

/// Turns the paths of messages into JSON pointers.
enum JSONPointer {
  /// Returns the pointer for a path such as `$.widgets[2].id`, `$["odd name"]` or `time`.
  ///
  /// - Parameter path: The path.
  /// - Returns: The pointer, such as `/widgets/2/id`; nil if the path is not in a JSON document.
  static func text(ofPath path: String) -> String? {
    // The time of an event has no other place in its messages.
    if path == "time" { return "/time" }
    guard path.first == "$" else { return nil }
    var pointer = ""
    var rest = path.dropFirst()
    while let first = rest.first {
      let step: String
      if first == "." {
        let name = rest.dropFirst().prefix { $0 != "." && $0 != "[" }
        rest = rest[name.endIndex...]
        step = String(name)
      } else if rest.hasPrefix("[\"") {
        step = quotedName(&rest)
      } else {
        let number = rest.dropFirst().prefix { $0 != "]" }
        rest = rest[number.endIndex...].dropFirst()
        step = String(number)
      }
      pointer += "/" + step.replacing("~", with: "~0").replacing("/", with: "~1")
    }
    return pointer
  }

  /// Takes a step such as `["odd name"]` from a path.
  private static func quotedName(_ rest: inout Substring) -> String {
    var (name, isEscaped) = ("", false)
    rest = rest.dropFirst(2)
    while let character = rest.popFirst(), character != "\"" || isEscaped {
      isEscaped = character == "\\" && !isEscaped
      if !isEscaped { name.append(character) }
    }
    rest = rest.dropFirst()
    return name
  }
}
