/// The headers of pages and of what belongs to them.
enum PageHeaders {
  /// The sources that a page may use: this host alone, and no script or style within the page.
  static let contentSecurityPolicy = [
    "default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src 'self' data:", "connect-src 'self'",
    "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
  ].joined(separator: "; ")

  /// The headers of everything.
  private static let common: [(name: String, value: String)] = [
    ("x-content-type-options", "nosniff"), ("referrer-policy", "same-origin"),
    ("content-security-policy", contentSecurityPolicy), ("cross-origin-resource-policy", "same-origin"),
  ]

  /// The headers of a page. It is never kept by a browser, because it may show what the next person may not see.
  static let page = common + [("cache-control", "no-store"), ("cross-origin-opener-policy", "same-origin")]

  /// The headers of a style sheet or script, whose path changes with its content.
  static let asset = common + [("cache-control", "public, max-age=31536000, immutable")]
}
