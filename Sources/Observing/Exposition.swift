/// Writes the metrics of a registry as text. Label values and help texts are escaped, so a value can hold any text.
public struct Exposition {
  private var bytes: [UInt8] = []
  private let format: ExpositionFormat

  /// Returns all metrics of a registry as text. Runs its collectors first.
  ///
  /// - Parameters:
  ///   - registry: The metrics.
  ///   - format: The format of the text.
  /// - Returns: The text in UTF-8.
  public static func bytes(of registry: MetricRegistry, as format: ExpositionFormat) -> [UInt8] {
    var exposition = Exposition(format: format)
    exposition.bytes.reserveCapacity(1 << 16)
    for family in registry.collected() { exposition.write(family) }
    if format == .openMetrics { exposition.put("# EOF\n") }
    return exposition.bytes
  }

  private init(format: ExpositionFormat) { self.format = format }

  private mutating func write(_ family: MetricFamily) {
    let description = family.description
    let (name, type): (String, String) =
      switch (format, description.kind) {
      case (.openMetrics, _): (description.family, description.kind.name)
      // The older format has no infos, and its counters keep their ending.
      case (.prometheus, .info): (description.name, "gauge")
      case (.prometheus, .counter), (.prometheus, .gauge), (.prometheus, .histogram):
        (description.name, description.kind.name)
      }
    put("# HELP \(name) \(Self.escaped(description.help, quotes: format == .openMetrics))\n")
    put("# TYPE \(name) \(type)\n")
    if format == .openMetrics, let unit = description.unit { put("# UNIT \(name) \(unit)\n") }
    let names = description.labels.map(\.name)
    for series in family.series {
      let labels = zip(names, series.labels).map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }
        .joined(separator: ",")
      if case .histogram(let bounds) = description.kind {
        write(histogram: description.name, bounds, series, labels)
      } else {
        put(description.name)
        put(labels.isEmpty ? " " : "{\(labels)} ")
        put("\(Self.text(series.value))\n")
      }
    }
  }

  private mutating func write(
    histogram name: String, _ bounds: [Double], _ series: MetricFamily.Series, _ labels: String
  ) {
    var count: UInt64 = 0
    let before = labels.isEmpty ? "" : "\(labels),"
    for (index, bucket) in series.buckets.enumerated() {
      count += bucket
      let bound = index < bounds.count ? Self.bound(bounds[index]) : "+Inf"
      put("\(name)_bucket{\(before)le=\"\(bound)\"} \(count)")
      // The older format has no exemplars.
      if format == .openMetrics, !series.exemplars.isEmpty, let exemplar = series.exemplars[index] {
        put(exemplar.text)
      }
      put("\n")
    }
    let after = labels.isEmpty ? "" : "{\(labels)}"
    put("\(name)_sum\(after) \(Self.text(series.value))\n")
    put("\(name)_count\(after) \(count)\n")
  }

  private mutating func put(_ text: String) { bytes += text.utf8 }

  /// Returns a text with backslashes and line feeds escaped.
  ///
  /// - Parameters:
  ///   - text: Any text.
  ///   - quotes: Whether quotation marks are escaped, too.
  static func escaped(_ text: String, quotes: Bool) -> String {
    guard text.utf8.contains(where: { $0 == 0x5c || $0 == 0x0a || $0 == 0x22 }) else { return text }
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Returns a number as both formats write it; whole numbers without a fraction.
  static func text(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return Int(exactly: value).map { "\($0)" } ?? "\(value)"
  }

  /// Returns the upper end of a bucket. OpenMetrics wants a fraction or an exponent, so `1` is `1.0`.
  private static func bound(_ value: Double) -> String { "\(value)" }
}

/// The text formats in which metrics are exposed.
public enum ExpositionFormat: Sendable, CaseIterable {
  /// OpenMetrics 1.0.
  case openMetrics
  /// The text format of Prometheus, version 0.0.4.
  case prometheus

  /// The content type of the format.
  public var contentType: String {
    switch self {
    case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
    case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
    }
  }

  /// Chooses the format by the header `Accept`: OpenMetrics if it is named with a quality that is not below that of plain text.
  ///
  /// - Parameter accept: The value of the header; nil if there is none.
  public init(accept: String?) {
    var (open, plain) = (0.0, 0.0)
    for range in (accept ?? "").lowercased().split(separator: ",") {
      let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
      let version = parts.dropFirst().first { $0.hasPrefix("version=") }?.dropFirst("version=".count)
      switch parts.first {
      case "application/openmetrics-text" where version == nil || version == "1.0.0": open = max(open, quality)
      case "text/plain", "text/*": plain = max(plain, quality)
      default: continue
      }
    }
    self = open > 0 && open >= plain ? .openMetrics : .prometheus
  }
}
