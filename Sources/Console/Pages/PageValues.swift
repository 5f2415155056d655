import JSON
import Mustache

/// The names and values that a template shows.
///
/// This is the only door to the templates. Each text that passes it becomes safe to show: characters that nobody sees, or that
/// reorder others, are written as `\u{…}`, and none of the characters that HTML gives a meaning to is part of a larger one. The template
/// library escapes by the characters of Swift, so it would leave a quotation mark alone that a combining accent follows.
///
/// Only the values of fields of forms keep every character (`raw`), because a browser sends them back.
///
/// For each name `title` a template can also ask for `hasTitle`.
struct PageValues: MustacheParent {
  private var values: [String: Any] = [:]

  /// Makes values.
  ///
  /// - Parameter values: The names with their values. A name without a value is as if it were not there.
  init(_ values: KeyValuePairs<String, PageValue?> = [:]) {
    for (name, value) in values { self[name] = value }
  }

  /// The value of a name. Reading is for templates only.
  subscript(_ name: String) -> PageValue? {
    get { nil }
    set {
      switch newValue {
      case .text(let text): values[name] = PageText.safe(text)
      case .flag(let flag): values[name] = flag
      case .list(let list): values[name] = list
      case .raw(let text): values[name] = PageText.encoded(text)
      case .markup(let markup): values[name] = markup.text
      case nil: values[name] = nil
      }
    }
  }

  /// Returns the value of a name, for a template.
  func child(named name: String) -> Any? {
    if let value = values[name] { return value }
    guard name.hasPrefix("has"), let first = name.dropFirst(3).first, first.isUppercase else { return nil }
    let asked = values[first.lowercased() + name.dropFirst(4)]
    if let list = asked as? [PageValues] { return !list.isEmpty }
    return asked != nil
  }
}

/// A value that a template shows.
enum PageValue {
  /// A text, which is made safe to show and escaped.
  case text(String)
  /// A text that is escaped here and otherwise stays as it is, for the value of a field, which is sent back. The template takes it over with
  /// three braces.
  case raw(String)
  /// A condition.
  case flag(Bool)
  /// Values to be shown one after the other.
  case list([PageValues])
  /// Markup that the console itself has made.
  case markup(Markup)
}

extension PageValue: ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral {
  /// Makes a text.
  init(stringLiteral value: String) { self = .text(value) }

  /// Makes a condition.
  init(booleanLiteral value: Bool) { self = .flag(value) }
}

/// Texts from outside, made safe to show.
enum PageText {
  /// The characters that HTML gives a meaning to.
  private static let special: Set<Unicode.Scalar> = ["<", ">", "&", "\"", "'"]

  /// Returns a text in which no character is invisible or reorders others, and in which each of `special` is a character of its own.
  /// Line feeds and tabs stay.
  static func safe(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return text }
    var safe = String.UnicodeScalarView()
    for character in text {
      let isMixed =
        character.unicodeScalars.count > 1 && character.unicodeScalars.contains(where: special.contains)
      for scalar in character.unicodeScalars {
        let isLayout = scalar == "\n" || scalar == "\t" || scalar == "\r"
        if !isLayout && scalar.isUnprintable || isMixed && !special.contains(scalar) && !isLayout {
          safe.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
        } else {
          safe.append(scalar)
        }
      }
    }
    return String(safe)
  }

  /// Returns a text that is safe to show, with the escapes of HTML, for markup that is made without a template.
  static func escaped(_ text: String) -> String { encoded(safe(text)) }

  /// Returns a text with the escapes of HTML and no other change, so that a browser has exactly this text.
  static func encoded(_ text: String) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
      case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
      case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
      case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
      case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}
