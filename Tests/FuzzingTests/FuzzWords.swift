/// Pieces that readers stumble over.
enum FuzzWords {
  /// Values and marks of JSON and YAML.
  static let texts: [[UInt8]] = [
    // Numbers at the ends of their types, and words that only look like numbers.
    "0", "-1", "-0", "1", "255", "65536", "4294967295", "4294967296", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "18446744073709551615", "1e308", "-1e308", "1e-320", "1e400", "0.1", "1e6", "NaN", ".inf",
    "null", "true", "false", "[]", "{}", "\"\"", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "{\"a\":{\"a\":{\"a\":", "]",
    "}",
    ",", ":", "\\", "\"",
    // Texts.
    "\"\\u0000\"", "\"\\ud800\"", "\"\\u001b[2J\"", "\"\\n\"", "\"é\"", "\"e\u{301}\"", "\"\u{202e}\"", "\"\u{feff}\"",
    "\"K\"", "\"\u{212a}\"", "\"a/b\"", "\"flight/UA1\"",
    // Times, spans and zones.
    "\"9999-12-31T23:59:59.999999Z\"", "\"0000-01-01T00:00:00Z\"", "\"1969-12-31T23:59:59.999999Z\"",
    "\"2026-07-01T12:00:00+23:59\"", "\"2026-02-30T00:00:00Z\"", "\"2262-04-12T00:00:00Z\"", "\"Pacific/Kiritimati\"",
    "\"GMT+0530\"", "\"Africa/Casablanca\"", "0s", "1s", "5m", "24h", "7d", "30d", "99999999999d", "-5m", "1.5h",
    "unlimited", "\"23:59\"", "\"24:00\"",
    // YAML.
    "&a", "*a", "!!binary", "|", ">", "---", "...", "<<:", "? ", "- ", "\t", "#", "{a: b}", "'", "yes", "on", "~", "%",
  ].map { Array($0.utf8) }

  /// Characters for the middle of a string.
  static let characters: [[UInt8]] =
    [
      "x", "é", "e\u{301}", "\u{1f600}", "\\u0000", "\\u202e", "\\\\", "\\\"", "/", "{", "}", "{subject}", "{data.a}",
      " ", "\n", "\u{85}", "0",
    ].map { Array($0.utf8) } + [[0], [0xff], [0xc3], [0xed, 0xa0, 0x80], [0x1b], [0x7f]]

  /// Numbers as binary records hold them: varints at the ends of their types, and lengths.
  static let bytes: [[UInt8]] = [
    [0], [1], [0x7f], [0x80], [0xff], [0x80, 0x01], [0xff, 0x7f], [0xff, 0xff, 0x03], [0x80, 0x80, 0x04],
    [0xff, 0xff, 0xff, 0xff, 0x07], [0xff, 0xff, 0xff, 0xff, 0x0f], [0x80, 0x80, 0x80, 0x80, 0x10],
    [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], [0, 0, 0, 0], [0xff, 0xff, 0xff, 0x7f],
    [0, 0, 0, 0, 0, 0, 0, 0x80], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    [0, 0, 0, 0, 0, 0, 0xf0, 0x7f], [0, 0, 0, 0, 0, 0, 0xf8, 0x7f], [0, 0, 0x80, 0x7f], [0, 0, 0xc0, 0x7f],
  ]
}
