/// Text and numbers for HTML.
enum HTMLText {
  /// Returns a text in which markup is escaped.
  static func escape(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      default: escaped.append(character)
      }
    }
    return escaped
  }

  /// Returns a number with some decimals, the same in every locale; a dash for a number that is not finite or too large.
  /// - Parameters:
  ///   - value: The number.
  ///   - places: The number of decimals, 0…6.
  static func number(_ value: Double, _ places: Int) -> String {
    guard value.isFinite, value.magnitude < 1e12 else { return "–" }
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    let scaled = Int((value * Double(scale)).rounded())
    let whole = "\(scaled.magnitude / UInt(scale))"
    let sign = scaled < 0 ? "-" : ""
    if places == 0 { return sign + whole }
    let fraction = String(scaled.magnitude % UInt(scale))
    return sign + whole + "." + String(repeating: "0", count: places - fraction.count) + fraction
  }
}
