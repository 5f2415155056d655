import Foundation

/// Measures the pages of a running console: it follows the links from the first page, keeps one page of each sort, adds those that are
/// likely to be the slowest of their sort, and fetches each of them several times, one after the other.
package struct ConsoleBenchmark {
  /// The port of the console on this host.
  package var port: Int
  /// The number of times that each page is fetched.
  package var rounds: Int
  /// Called with a few words before each part of the work.
  package var progress: (String) -> Void

  /// The figures of a page.
  package struct Page: Sendable {
    /// The path, with its question.
    package var path: String
    /// The status code.
    package var status: Int
    /// The size of the body, in bytes.
    package var bytes: Int
    /// The time from sending the request to the last byte of the answer, in milliseconds: the median and the longest.
    package var milliseconds: (median: Double, max: Double)
  }

  /// The most pages that are measured.
  /// - Beyond: further links are not followed.
  package static let pagesMax = 100

  /// Describes a benchmark.
  package init(port: Int, rounds: Int, progress: @escaping (String) -> Void) {
    self.port = port
    self.rounds = rounds
    self.progress = progress
  }

  /// Runs the benchmark.
  /// - Returns: the pages in the order in which they were found.
  /// - Throws: ``BenchmarkError`` when nothing listens, or the first page is not there.
  package func run() throws -> [Page] {
    progress("following links")
    var paths = try explore()
    guard !paths.isEmpty else {
      throw BenchmarkError("port \(port) has no page at /; a console with keys or tokens cannot be measured")
    }
    for path in try slowest() where !paths.contains(path) { paths.append(path) }
    return try paths.map { path in
      progress(path)
      return try measure(path)
    }
  }

  private func measure(_ path: String) throws -> Page {
    let connection = try LoadConnection(port: port)
    var times: [Double] = []
    var page = Page(path: path, status: 0, bytes: 0, milliseconds: (0, 0))
    for _ in 0..<rounds {
      let start = MonotonicClock.seconds()
      page.status = try connection.ask(Self.request(path))
      times.append((MonotonicClock.seconds() - start) * 1000)
      page.bytes = connection.bodyBytes
    }
    times.sort()
    page.milliseconds = (times[times.count / 2], times.last ?? 0)
    return page
  }

  private static func request(_ path: String) -> [UInt8] {
    Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n".utf8)
  }

  /// Returns one path of each sort of page that links lead to.
  private func explore() throws -> [String] {
    var (waiting, found, sorts) = (["/"], [String](), Set([Self.sort(of: "/")]))
    while !waiting.isEmpty, found.count < Self.pagesMax {
      let path = waiting.removeFirst()
      guard let page = try page(path) else { continue }
      found.append(path)
      for link in Self.links(in: page) where sorts.insert(Self.sort(of: link)).inserted {
        waiting.append(link)
      }
    }
    return found
  }

  /// Returns the pages of the device and of the event with most decisions, and the decisions with each reason. A reason that is rare, or
  /// that no decision has, is looked for in many pages of the store.
  private func slowest() throws -> [String] {
    var found: [String] = []
    for (list, thing) in [("/top?by=device", "/devices/"), ("/top?by=event", "/events/")] {
      guard let page = try page(list), let link = Self.links(in: page).first(where: { $0.hasPrefix(thing) }) else {
        continue
      }
      found.append(link)
    }
    return found + Self.reasons(in: try page("/decisions") ?? "").map { "/decisions?reason=\($0)" }
  }

  /// Returns the page at a path; nil if there is none, or something else.
  private func page(_ path: String) throws -> String? {
    // A connection of its own: an answer without a length, such as an export, is not read to its end.
    let connection = try LoadConnection(port: port)
    return try connection.ask(Self.request(path)) == 200 && connection.isPage ? connection.bodyText : nil
  }

  /// Returns the reasons that the form of the page of decisions has to choose from.
  static func reasons(in page: String) -> [String] {
    guard let start = page.range(of: "name=\"reason\""),
      let end = page.range(of: "</select>", range: start.upperBound..<page.endIndex)
    else { return [] }
    return page[start.upperBound..<end.lowerBound].components(separatedBy: "<option value=\"").dropFirst().compactMap {
      let value = $0.prefix { $0 != "\"" }
      return value.isEmpty ? nil : String(value)
    }
  }

  /// Returns what two links to pages of one sort have in common: the first part of the path, the number of parts, and the names in the
  /// question.
  static func sort(of link: String) -> String {
    let parts = link.split(separator: "?", maxSplits: 1)
    let path = (parts.first ?? "").split(separator: "/")
    let names = parts.count < 2 ? [] : parts[1].split(separator: "&").map { $0.prefix { $0 != "=" } }
    return "\(path.first ?? "") \(path.count) \(Set(names).sorted().joined(separator: " "))"
  }

  /// Returns the links of a page to pages of the same host.
  static func links(in page: String) -> [String] {
    page.components(separatedBy: "href=\"").dropFirst().compactMap { rest in
      let link = rest.prefix { $0 != "\"" }.replacingOccurrences(of: "&amp;", with: "&")
      guard link.hasPrefix("/"), !link.hasPrefix("//") else { return nil }
      return String(link.prefix { $0 != "#" })
    }
  }
}
