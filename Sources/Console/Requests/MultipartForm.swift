import Serving

/// Reads a form that a browser sends as `multipart/form-data` (RFC 7578), because a file is among its fields.
enum MultipartForm {
  /// The most bytes of the headers of a part.
  /// - Beyond: the request is refused.
  private static let headerBytesMax = 4096
  private static let lineEnd: [UInt8] = [13, 10]

  /// Returns the boundary between the parts; nil for another content type.
  ///
  /// - Parameter contentType: The header `Content-Type`.
  static func boundary(of contentType: String?) -> String? {
    let parts = (contentType ?? "").split(separator: ";").map { $0.filter { $0 != " " } }
    guard parts.first?.lowercased() == "multipart/form-data",
      let given = parts.first(where: { $0.lowercased().hasPrefix("boundary=") })?.dropFirst(9)
    else { return nil }
    let boundary = given.hasPrefix("\"") && given.hasSuffix("\"") ? String(given.dropFirst().dropLast()) : String(given)
    return (1...70).contains(boundary.utf8.count) ? boundary : nil
  }

  /// Returns the fields of a body, in order. The name of a file is left out: nothing depends on it.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - boundary: The boundary.
  /// - Throws: `Problem` if the body is no such form.
  static func read(_ body: [UInt8], boundary: String) throws(Problem) -> RequestQuery {
    let mark = Array("--\(boundary)".utf8)
    guard body.starts(with: mark) else { throw broken }
    var items: [RequestQuery.QueryItem] = []
    var rest = body[mark.count...]
    while !rest.starts(with: [UInt8(ascii: "-"), UInt8(ascii: "-")]) {
      guard rest.starts(with: lineEnd), items.count < RequestQuery.itemsMax else { throw broken }
      // A part without headers would have the empty line at once, so the search begins with the end of the mark's line.
      guard let head = find(lineEnd + lineEnd, in: rest.prefix(headerBytesMax)) else { throw broken }
      let name = try name(of: rest[rest.startIndex..<head])
      rest = rest[(head + 4)...]
      guard let end = find(lineEnd + mark, in: rest) else { throw broken }
      items.append(.init(name: name, value: String(decoding: rest[rest.startIndex..<end], as: UTF8.self)))
      rest = rest[(end + 2 + mark.count)...]
    }
    return RequestQuery(items: items)
  }

  private static var broken: Problem {
    Problem(.malformedRequest, "the body is no form of the type multipart/form-data")
  }

  /// Returns the name of the field in the headers of a part.
  private static func name(of headers: ArraySlice<UInt8>) throws(Problem) -> String {
    let lines = String(decoding: headers, as: UTF8.self).split(separator: "\r\n")
    guard let line = lines.first(where: { $0.lowercased().hasPrefix("content-disposition:") }),
      let start = line.firstRange(of: " name=\"")?.upperBound, let end = line[start...].firstIndex(of: "\"")
    else { throw broken }
    return String(line[start..<end])
  }

  /// Returns the place at which a pattern begins first; nil if it is not there.
  private static func find(_ pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.count >= pattern.count, let first = pattern.first else { return nil }
    var at = bytes.startIndex
    while let next = bytes[at...].firstIndex(of: first), next + pattern.count <= bytes.endIndex {
      if bytes[next..<next + pattern.count].elementsEqual(pattern) { return next }
      at = next + 1
    }
    return nil
  }
}
