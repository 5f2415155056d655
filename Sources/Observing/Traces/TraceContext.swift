public import ServiceContextModule

/// The place of an operation in a trace: what a header `traceparent` says.
///
/// Source: W3C Recommendation "Trace Context", 2021, section 3.2.
public struct TraceContext: Hashable, Sendable {
  /// The id of the trace, 16 bytes in two halves. Not both are 0.
  public var traceHigh: UInt64, traceLow: UInt64
  /// The id of the operation, of which the following ones are children. Not 0.
  public var span: UInt64
  /// Whether the spans of the trace are kept.
  public var isSampled: Bool

  /// Makes a context. The ids are not checked.
  public init(traceHigh: UInt64, traceLow: UInt64, span: UInt64, isSampled: Bool) {
    self.traceHigh = traceHigh
    self.traceLow = traceLow
    self.span = span
    self.isSampled = isSampled
  }

  /// The number of bytes of a `traceparent` of version 00.
  private static let textBytes = 55

  /// Reads a `traceparent`. A version above 00 is read as 00, and what follows is ignored.
  ///
  /// - Parameter text: The value of the header or attribute.
  /// - Returns: The context; nil for a text that W3C calls invalid, with which a new trace begins.
  public init?(traceparent text: String) {
    let bytes = Array(text.utf8.prefix(Self.textBytes + 1))
    let dash = UInt8(ascii: "-")
    guard bytes.count >= Self.textBytes, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash,
      let version = Self.number(bytes[0..<2]), let high = Self.number(bytes[3..<19]),
      let low = Self.number(bytes[19..<35]), let span = Self.number(bytes[36..<52]),
      let flags = Self.number(bytes[53..<55])
    else { return nil }
    let isLonger = bytes.count > Self.textBytes
    if version == 0xff || version == 0 && isLonger || isLonger && bytes[Self.textBytes] != dash { return nil }
    if high | low == 0 || span == 0 { return nil }
    self.init(traceHigh: high, traceLow: low, span: span, isSampled: flags & 1 == 1)
  }

  /// The context as a `traceparent` of version 00.
  public var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

  /// The id of the trace in 32 hexadecimal digits.
  public var traceID: String { Self.digits(traceHigh, traceLow) }
  /// The id of the operation in 16 hexadecimal digits.
  public var spanID: String { Self.digits(span) }

  /// Returns the number that lower-case hexadecimal digits stand for; nil if there are other bytes.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    var number: UInt64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return number
  }

  /// Returns numbers as 16 hexadecimal digits each.
  static func digits(_ numbers: UInt64...) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16 * numbers.count)
    for number in numbers {
      for shift in stride(from: UInt64(60), through: 0, by: -4) {
        let digit = UInt8(truncatingIfNeeded: number >> shift & 15)
        bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The key of the trace in contexts of swift-distributed-tracing.
private enum TraceContextKey: ServiceContextKey {
  typealias Value = TraceContext
  static var nameOverride: String? { "traceparent" }
}

extension ServiceContext {
  /// The place in a trace; nil outside of traces.
  public var trace: TraceContext? {
    get { self[TraceContextKey.self] }
    set { self[TraceContextKey.self] = newValue }
  }

  /// Returns a context that holds only a place in a trace.
  public static func tracing(_ trace: TraceContext) -> ServiceContext {
    var context = ServiceContext.topLevel
    context.trace = trace
    return context
  }
}
