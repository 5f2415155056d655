import Foundation
import Testing

@testable import Console

/// Reads a page as strictly as a page of the console has to be written, and collects what is wrong with it.
struct PageCheck {
  /// The mistakes.
  private(set) var mistakes: [String] = []
  /// The addresses of links and forms, without their escapes of HTML.
  private(set) var links: [(method: String, address: String)] = []
  /// The values of hidden fields, by name, without the escapes.
  private(set) var hidden: [String: String] = [:]
  /// The text of all elements, without the escapes.
  private(set) var text = ""

  private static let empty: Set<String> = ["meta", "link", "input", "img", "br", "rect", "line", "circle", "path"]
  private static let known: Set<String> = empty.union([
    "html", "head", "title", "noscript", "script", "body", "a", "header", "nav", "ul", "li", "form", "label", "button",
    "main",
    "div", "p", "h1", "h2", "section", "span", "strong", "dl", "dt", "dd", "figure", "figcaption", "pre", "textarea",
    "select", "option", "table", "caption", "thead", "tbody", "tr", "th", "td", "svg", "desc", "text",
  ])
  private static let attributes: Set<String> = [
    "accept", "action", "alt", "aria-current", "aria-describedby", "aria-hidden", "aria-label", "aria-labelledby",
    "autocomplete", "charset", "class", "content", "cx", "cy", "d", "data-refresh", "data-stream", "defer", "download",
    "enctype",
    "for", "form", "height",
    "href",
    "http-equiv", "id", "lang", "maxlength", "method", "name", "placeholder", "preserveAspectRatio", "r", "rel",
    "required",
    "role", "rows", "scope", "selected", "spellcheck", "src", "tabindex", "text-anchor", "type", "value", "viewBox",
    "width",
    "x", "x1", "x2", "xmlns", "y", "y1", "y2",
  ]

  private var open: [String] = []
  private var ids: Set<String> = []
  private var wantedIds: [String] = []
  private var fields: [String] = []
  private var headings: [Int] = []
  private var tables = 0
  private var csvLinks = 0

  /// Reads a page.
  init(_ page: String) {
    var rest = Substring(page)
    if rest.hasPrefix("<!DOCTYPE html>") { rest = rest.dropFirst(15) } else { mistakes.append("no document type") }
    while !rest.isEmpty {
      // By scalars: a sign that a combining character follows is no `Character` of its own.
      let end = rest.unicodeScalars.firstIndex(of: "<") ?? rest.endIndex
      text += Self.unescaped(rest[..<end], &mistakes)
      if rest[..<end].unicodeScalars.contains(">") {
        mistakes.append("a bare > in the text \(rest[..<end].prefix(80))")
      }
      guard end < rest.endIndex else { break }
      rest = rest[end...]
      tag(&rest)
    }
    if tables != csvLinks { mistakes.append("\(tables) tables with \(csvLinks) ways to their CSV") }
    if !open.isEmpty { mistakes.append("not closed: \(open)") }
    for id in wantedIds where !ids.contains(id) { mistakes.append("there is no element \(id)") }
    for field in fields where !ids.contains("label for \(field)") { mistakes.append("the field \(field) has no label") }
    if headings.first != 1 || headings.filter({ $0 == 1 }).count != 1 { mistakes.append("headings \(headings)") }
  }

  private mutating func tag(_ rest: inout Substring) {
    let scalars = rest.unicodeScalars
    guard let end = scalars.firstIndex(of: ">") else { return mistakes.append("a tag without an end") }
    var inside = rest[scalars.index(after: scalars.startIndex)..<end]
    rest = rest[scalars.index(after: end)...]
    if inside.hasPrefix("/") {
      let name = String(inside.dropFirst())
      if open.popLast() != name { mistakes.append("</\(name)> closes another element") }
      return
    }
    let isClosed = inside.hasSuffix("/")
    if isClosed { inside = inside.dropLast() }
    let name = String(inside.prefix { $0 != " " })
    guard Self.known.contains(name) else { return mistakes.append("the element <\(inside.prefix(80))>") }
    attributes(name, inside.dropFirst(name.count))
    if name == "h1" || name == "h2" { headings.append(name == "h1" ? 1 : 2) }
    if !isClosed, !Self.empty.contains(name) { open.append(name) }
  }

  private mutating func attributes(_ element: String, _ words: Substring) {
    var rest = words
    var values: [String: String] = [:]
    while let start = rest.firstIndex(where: { $0 != " " }) {
      rest = rest[start...]
      let name = String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "-" })
      rest = rest.dropFirst(name.count)
      guard Self.attributes.contains(name) else {
        return mistakes.append("the attribute '\(name)' at \(rest.prefix(60)) of <\(element)>")
      }
      guard rest.hasPrefix("=") else {
        values[name] = ""
        continue
      }
      // By scalars, as above.
      let scalars = rest.dropFirst().unicodeScalars
      guard scalars.first == "\"", let end = scalars.dropFirst().firstIndex(of: "\"") else {
        return mistakes.append("the value of \(name) of <\(element)>")
      }
      values[name] = Self.unescaped(rest[scalars.index(after: scalars.startIndex)..<end], &mistakes)
      rest = rest[scalars.index(after: end)...]
    }
    note(element, values)
  }

  private mutating func note(_ element: String, _ values: [String: String]) {
    if let id = values["id"], !ids.insert(id).inserted { mistakes.append("the id \(id) twice") }
    for name in ["aria-labelledby", "aria-describedby"] {
      wantedIds += (values[name] ?? "").split(separator: " ").map(String.init)
    }
    if let form = values["form"] { wantedIds.append(form) }
    if element == "table" { tables += 1 }
    if values["class"] == "csv" { csvLinks += 1 }
    if element == "label", let field = values["for"] { ids.insert("label for \(field)") }
    if ["input", "select", "textarea"].contains(element), values["type"] != "hidden" {
      fields.append(values["id"] ?? "?")
    }
    if values["type"] == "hidden", let name = values["name"] { hidden[name] = values["value"] }
    if element == "script", values["src"]?.hasPrefix("/assets/") != true { mistakes.append("a script within the page") }
    if element == "img", values["alt"] == nil { mistakes.append("an image without words") }
    for name in ["href", "src", "action"] {
      guard let address = values[name], address != "", !address.hasPrefix("#") else { continue }
      guard address.hasPrefix("/"), !address.hasPrefix("//") else {
        mistakes.append("the address \(address)")
        continue
      }
      links.append((name == "action" ? (values["method"] ?? "get").uppercased() : "GET", address))
    }
  }

  private static func unescaped(_ text: Substring, _ mistakes: inout [String]) -> String {
    // By scalars: a character may combine with the end of an escape.
    var plain = String.UnicodeScalarView()
    let parts = text.unicodeScalars.split(separator: "&", omittingEmptySubsequences: false)
    for (place, part) in parts.enumerated() {
      if place == 0 {
        plain += part
        continue
      }
      let names = ["lt;": "<", "gt;": ">", "amp;": "&", "quot;": "\"", "#39;": "'"]
      guard let name = names.keys.first(where: { part.starts(with: $0.unicodeScalars) }) else {
        mistakes.append("a bare & before \(part.prefix(20))")
        continue
      }
      plain += (names[name] ?? "").unicodeScalars + part.dropFirst(name.unicodeScalars.count)
    }
    return String(plain)
  }
}
