import Domain
import Foundation
import JSON
import Serving

/// The CloudEvents HTTP binding: turns a request into records as the CloudEvents Kafka binding has them.
/// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md
enum EventBinding {
  /// The content modes.
  enum ContentMode: Sendable, Equatable {
    /// One event in JSON, which becomes the value of the record as it is.
    case structured
    /// Attributes in `ce-` headers, which become `ce_` headers of the record; the body is the data.
    case binary([CloudEventRecord.Header])
    /// A JSON array of events. Each becomes a record in structured mode.
    case batched

    /// Whether the attributes of the event are headers.
    var isBinary: Bool { if case .binary = self { true } else { false } }
  }

  /// The largest number of events of a batch.
  /// - Beyond: the request is refused with 413.
  static let batchEventsMax = 10_000

  private static let structuredType = "application/cloudevents+json"
  private static let structuredHeaders = [
    CloudEventRecord.Header(name: "content-type", value: Array(structuredType.utf8))
  ]

  /// Returns the content mode of a request.
  ///
  /// - Parameter head: The head of the request.
  /// - Throws: `Problem` for a content type that is none of CloudEvents with JSON.
  static func mode(_ head: HTTPHead) throws(Problem) -> ContentMode {
    let contentType = head.header("content-type")
    let mediaType = (contentType ?? "").prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
    switch mediaType {
    case structuredType: return .structured
    case "application/cloudevents-batch+json": return .batched
    default: break
    }
    let attributes = head.fields.filter { $0.name.lowercased().hasPrefix("ce-") }
    let isJSON = ["", "application/json", "text/json"].contains(mediaType) || mediaType.hasSuffix("+json")
    guard !attributes.isEmpty, isJSON, !mediaType.hasPrefix("application/cloudevents") else {
      throw Problem(
        .unsupportedMediaType,
        "expected application/cloudevents+json, application/cloudevents-batch+json, or application/json with ce- headers"
      )
    }
    var headers = attributes.map { name, value in
      CloudEventRecord.Header(name: "ce_" + name.dropFirst(3).lowercased(), value: decoded(value))
    }
    if let contentType { headers.append(.init(name: "content-type", value: Array(contentType.utf8))) }
    return .binary(headers)
  }

  /// Returns the bytes of a header value: quotation marks and percent-encoding are taken away, as the binding says. A percent sign without
  /// two digits stands for itself.
  static func decoded(_ value: String) -> [UInt8] {
    var text = value
    if text.count > 1, text.hasPrefix("\""), text.hasSuffix("\"") {
      var isEscaped = false
      text = String(
        text.dropFirst().dropLast().filter { character in
          isEscaped = character == "\\" && !isEscaped
          return !isEscaped
        })
    }
    let source = Array(text.utf8)
    var bytes: [UInt8] = []
    var at = 0
    while at < source.count {
      if source[at] == UInt8(ascii: "%"), at + 2 < source.count, let high = digit(source[at + 1]),
        let low = digit(source[at + 2])
      {
        bytes.append(high << 4 | low)
        at += 3
      } else {
        bytes.append(source[at])
        at += 1
      }
    }
    return bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// Returns the records of a request.
  ///
  /// - Parameters:
  ///   - mode: The content mode.
  ///   - body: The body.
  ///   - key: The key of each record; nil if the events have keys of their own.
  ///   - now: The time of events that state none.
  ///   - reader: A reader for the document of a batch.
  /// - Throws: `Problem` for a batch that is no JSON array, or too long.
  static func records(
    _ mode: ContentMode, _ body: [UInt8], key: [UInt8]?, at now: Timestamp, _ reader: JSONReader
  ) throws(Problem) -> [CloudEventRecord] {
    switch mode {
    case .structured: return [CloudEventRecord(headers: structuredHeaders, key: key, value: body, timestamp: now)]
    case .binary(let headers): return [CloudEventRecord(headers: headers, key: key, value: body, timestamp: now)]
    case .batched:
      return try elements(body, reader).map { place in
        CloudEventRecord(headers: structuredHeaders, key: key, value: Array(body[place]), timestamp: now)
      }
    }
  }

  /// Checks that a body is a JSON array, and returns the places of its elements.
  private static func elements(_ body: [UInt8], _ reader: JSONReader) throws(Problem) -> [Range<Int>] {
    let count: Int
    do throws(DomainError) {
      count = try reader.read(body) { (root: JSONNode) throws(DomainError) in
        guard root.kind == .array else { throw DomainError(root.wrongType("an array of events")) }
        return root.count
      }
    } catch {
      var problem = Problem(.recordRefused, error.description)
      problem.mistakes = [Problem.Mistake(error)]
      throw problem
    }
    guard count <= batchEventsMax else {
      throw Problem(.tooLarge, "a batch has at most \(batchEventsMax) events, this one has \(count); send it in parts")
    }
    return JSONArraySplitter.places(in: body, count: count)
  }
}

/// Finds the elements of a JSON array in its bytes, so that each can be passed on as it was written.
enum JSONArraySplitter {
  /// Returns the places of the elements.
  ///
  /// - Parameters:
  ///   - bytes: A document that a reader has accepted as an array.
  ///   - count: The number of its elements.
  /// - Returns: The place of each element, in order.
  static func places(in bytes: [UInt8], count: Int) -> [Range<Int>] {
    guard count > 0, let open = bytes.firstIndex(of: UInt8(ascii: "[")) else { return [] }
    var places: [Range<Int>] = []
    places.reserveCapacity(count)
    var (depth, isInString, isEscaped) = (0, false, false)
    var start = open + 1
    for at in open + 1..<bytes.count {
      let byte = bytes[at]
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]") where depth == 0:
        places.append(start..<at)
        return places
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      case UInt8(ascii: ",") where depth == 0:
        places.append(start..<at)
        start = at + 1
      default: break
      }
    }
    return places
  }
}
