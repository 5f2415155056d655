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
