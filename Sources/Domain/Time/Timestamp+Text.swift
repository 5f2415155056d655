extension Timestamp {
  /// The instants that RFC 3339 can name: those of the years 0 to 9999.
  static let textRange =
    Timestamp(microseconds: -62_167_219_200_000_000)...Timestamp(microseconds: 253_402_300_799_999_999)

  /// The form that error messages ask for.
  static let expectation = "an RFC 3339 date and time such as \"2013-07-01T10:05:00Z\""

  /// Reads RFC 3339: `2013-07-01T10:05:00Z`, `2013-07-01T06:05:00.25-04:00`. Up to nine digits of a second, of which those
  /// beyond microseconds are dropped. The result is nil for any other text, including dates that do not exist and leap seconds.
  public init?(rfc3339 text: String) {
    var text = text
    let parsed = text.withUTF8 { bytes in unsafe Timestamp(rfc3339: bytes.span) }
    guard let parsed else { return nil }
    self = parsed
  }

  /// Reads RFC 3339 from UTF-8 bytes.
  public init?(rfc3339 bytes: Span<UInt8>) {
    guard bytes.count >= 20, bytes.count <= 35 else { return nil }
    guard let year = number(bytes, 0, 4), bytes[4] == UInt8(ascii: "-"), let month = number(bytes, 5, 2),
      bytes[7] == UInt8(ascii: "-"), let day = number(bytes, 8, 2), bytes[10] | 0x20 == UInt8(ascii: "t"),
      let hour = number(bytes, 11, 2), bytes[13] == UInt8(ascii: ":"), let minute = number(bytes, 14, 2),
      bytes[16] == UInt8(ascii: ":"), let second = number(bytes, 17, 2)
    else { return nil }
    guard (1...12).contains(month), day >= 1, day <= daysIn(month: month, year: year), hour < 24, minute < 60,
      second < 60
    else { return nil }
    var at = 19
    guard let fraction = fractionInMicroseconds(bytes, &at), let offset = offsetSeconds(bytes, at) else { return nil }
    let days = daysSinceEpoch(year: year, month: month, day: day)
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    let instant = Timestamp(microseconds: Int64(seconds) * 1_000_000 + Int64(fraction))
    guard Timestamp.textRange.contains(instant) else { return nil }
    self = instant
  }

  /// Appends the instant as RFC 3339 in UTC: `2013-07-01T10:05:00Z`, with milliseconds or microseconds if they are not zero.
  /// RFC 3339 cannot name instants outside the years 0 to 9999; they are written as the nearest one that it can.
  public func appendRFC3339(to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: Self.textMax) { (room: inout OutputSpan<UInt8>) in appendRFC3339(to: &room) }
  }

  /// The number of bytes of the longest text.
  public static let textMax = 27

  /// Appends the same text to a buffer, which must have room for `textMax` bytes.
  public func appendRFC3339(to room: inout OutputSpan<UInt8>) {
    let instant = min(max(self, Timestamp.textRange.lowerBound), Timestamp.textRange.upperBound)
    let seconds = Int(instant.seconds)
    let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let ofDay = seconds - days * 86_400
    let (year, month, day) = date(daysSinceEpoch: days)
    append(year / 100, to: &room)
    append(year % 100, to: &room)
    room.append(UInt8(ascii: "-"))
    append(month, to: &room)
    room.append(UInt8(ascii: "-"))
    append(day, to: &room)
    room.append(UInt8(ascii: "T"))
    append(ofDay / 3600, to: &room)
    room.append(UInt8(ascii: ":"))
    append(ofDay / 60 % 60, to: &room)
    room.append(UInt8(ascii: ":"))
    append(ofDay % 60, to: &room)
    let fraction = Int(instant.microseconds) - seconds * 1_000_000
    if fraction != 0 {
      room.append(UInt8(ascii: "."))
      room.append(UInt8(ascii: "0") + UInt8(fraction / 100_000))
      append(fraction / 1000 % 100, to: &room)
      if fraction % 1000 != 0 {
        room.append(UInt8(ascii: "0") + UInt8(fraction / 100 % 10))
        append(fraction % 100, to: &room)
      }
    }
    room.append(UInt8(ascii: "Z"))
  }
}

extension Timestamp: CustomStringConvertible {
  /// The instant as RFC 3339 in UTC.
  public var description: String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(27)
    appendRFC3339(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Reads `count` decimal digits from `start` on; nil if one of them is not a digit.
private func number(_ bytes: Span<UInt8>, _ start: Int, _ count: Int) -> Int? {
  var value = 0
  for at in start..<start + count {
    let digit = bytes[at] &- UInt8(ascii: "0")
    guard digit < 10 else { return nil }
    value = value * 10 + Int(digit)
  }
  return value
}

/// Reads the fraction of a second at the index `at`, and moves `at` behind it. Returns 0 if there is no fraction, and
/// nil if a point is not followed by one to nine digits.
private func fractionInMicroseconds(_ bytes: Span<UInt8>, _ at: inout Int) -> Int? {
  guard bytes[at] == UInt8(ascii: ".") else { return 0 }
  at += 1
  var value = 0
  var digits = 0
  while at < bytes.count, bytes[at] &- UInt8(ascii: "0") < 10 {
    if digits < 6 { value = value * 10 + Int(bytes[at] &- UInt8(ascii: "0")) }
    digits += 1
    at += 1
  }
  guard (1...9).contains(digits), at < bytes.count else { return nil }
  for _ in digits..<max(digits, 6) { value *= 10 }
  return value
}

/// Reads the offset from UTC, `Z` or `±hh:mm`, which must end the text. Returns seconds, positive to the east; nil for
/// any other text.
private func offsetSeconds(_ bytes: Span<UInt8>, _ at: Int) -> Int? {
  if bytes[at] | 0x20 == UInt8(ascii: "z") { return bytes.count == at + 1 ? 0 : nil }
  let sign = bytes[at]
  guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), bytes.count == at + 6 else { return nil }
  guard let hours = number(bytes, at + 1, 2), bytes[at + 3] == UInt8(ascii: ":"),
    let minutes = number(bytes, at + 4, 2),
    hours < 24, minutes < 60
  else { return nil }
  let seconds = hours * 3600 + minutes * 60
  return sign == UInt8(ascii: "-") ? -seconds : seconds
}

private func daysIn(month: Int, year: Int) -> Int {
  switch month {
  case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
  case 4, 6, 9, 11: 30
  default: 31
  }
}

/// Returns the days since 1970-01-01 of a date in the proleptic Gregorian calendar. Source: H. Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms": years begin in March, so that the leap day is the last.
private func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
  let y = month <= 2 ? year - 1 : year
  let era = (y >= 0 ? y : y - 399) / 400
  let yearOfEra = y - era * 400
  let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
  return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}

/// Returns the date of a day since 1970-01-01. Same source.
private func date(daysSinceEpoch days: Int) -> (year: Int, month: Int, day: Int) {
  let z = days + 719_468
  let era = (z >= 0 ? z : z - 146_096) / 146_097
  let dayOfEra = z - era * 146_097
  let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let monthFromMarch = (5 * dayOfYear + 2) / 153
  let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
}

/// Appends a number from 0 to 99 as two decimal digits.
private func append(_ value: Int, to room: inout OutputSpan<UInt8>) {
  room.append(UInt8(ascii: "0") + UInt8(value / 10))
  room.append(UInt8(ascii: "0") + UInt8(value % 10))
}

extension TimeSpan {
  /// Reads the offset of an RFC 3339 time, such as `+02:00`, `-04:00` or `Z`. The result is nil for any other text.
  public init?(utcOffset text: String) {
    let midnight = "1970-01-01T00:00:00"
    guard !text.hasPrefix("."),
      let local = Timestamp(rfc3339: midnight + "Z"), let time = Timestamp(rfc3339: midnight + text)
    else { return nil }
    self = local - time
  }
}
