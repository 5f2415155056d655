/// Finds the members of a decision in the bytes of a line that has exactly the form in which planners write it: every member in its
/// place, no white space, no escapes. It allocates nothing.
///
/// A scan succeeds only for a line that the full decoder (`Decision.init(json:reader:)`) accepts, and gives the same decision. A
/// line of another form, right or wrong, is left to the decoder. Tests compare the two.
struct DecisionScanner: Sendable {
  private let surfaces = CodeTable<Surface>()
  private let verdicts = CodeTable<Verdict>()
  private let reasons = CodeTable<Reason>()

  /// Scans the line that begins at an offset.
  /// - Parameters:
  ///   - bytes: The bytes of a block.
  ///   - start: The offset of the first byte of the line.
  /// - Returns: The line, and the offset behind it, which is the end of the bytes or that of a line feed; nil for a line of another
  ///   form.
  func scan(_ bytes: [UInt8], from start: Int) -> (line: DecisionLine, end: Int)? {
    guard bytes.count <= Int32.max, start <= bytes.count else { return nil }
    // The bytes outlive the closure, and so does the cursor's pointer to them.
    return unsafe bytes.withUnsafeBufferPointer { buffer in
      var cursor = unsafe ByteCursor(buffer, at: start)
      var line = DecisionLine(in: bytes)
      guard names(&line, &cursor), outcome(&line, &cursor), rest(&line, &cursor), cursor.isAtEndOfLine,
        cursor.at - start <= Decision.documentBytesMax
      else { return nil }
      return (line, cursor.at)
    }
  }

  /// Scans the members up to `kind`.
  private func names(_ line: inout DecisionLine, _ cursor: inout ByteCursor) -> Bool {
    guard cursor.skip("{\"decision\":\""), cursor.text(&line.id), cursor.skip("\",\"event\":\""),
      cursor.text(&line.event), cursor.skip("\",\"events\":["), events(&line, &cursor), cursor.skip("],\"device\":\""),
      cursor.text(&line.device, bytesMax: DomainBounds.plannedDeviceBytesMax), cursor.skip("\",\"instance\":\""),
      cursor.text(&line.instance, bytesMax: DomainBounds.plannedInstanceBytesMax), cursor.skip("\",\"kind\":\""),
      cursor.text(&line.kind)
    else { return false }
    return true
  }

  private func events(_ line: inout DecisionLine, _ cursor: inout ByteCursor) -> Bool {
    let start = cursor.at
    var element = DecisionLine.Place.absent
    while cursor.skip("\"") {
      guard cursor.text(&element), cursor.skip("\"") else { return false }
      line.eventCount += 1
      guard cursor.skip(",") else { break }
    }
    line.events = DecisionLine.Place(start, cursor.at)
    // A comma must be followed by another element.
    return line.eventCount == 0 || !cursor.isBehind(UInt8(ascii: ","))
  }

  /// Scans the members from `surface` to `tokensLeft`.
  private func outcome(_ line: inout DecisionLine, _ cursor: inout ByteCursor) -> Bool {
    guard cursor.skip("\",\"surface\":\""), cursor.code(&line.surface, surfaces), cursor.skip("\",\"verdict\":\""),
      cursor.code(&line.verdict, verdicts), cursor.skip("\",\"reason\":\""), cursor.code(&line.reason, reasons),
      cursor.skip("\",\"final\":")
    else { return false }
    line.final = cursor.skip("true")
    guard line.final || cursor.skip("false"), cursor.skip(",\"at\":\""), cursor.instant(&line.at),
      cursor.skip("\",\"relevance\":"), cursor.number(&line.relevance), cursor.skip(",\"wrong\":"),
      cursor.number(&line.wrong), cursor.skip(",\"looks\":"), cursor.number(&line.looks), cursor.skip(",\"value\":"),
      cursor.number(&line.value), cursor.skip(",\"price\":"), cursor.number(&line.price),
      cursor.skip(",\"tokensLeft\":{")
    else { return false }
    return tokens(&line.tokensLeft, &cursor)
  }

  private func tokens(_ tokens: inout Decision.TokensLeft, _ cursor: inout ByteCursor) -> Bool {
    if cursor.skip("\"instance\":") {
      guard cursor.count(&tokens.instance) else { return false }
      if cursor.skip("}") { return true }
      guard cursor.skip(",") else { return false }
      // A member must follow the comma.
      guard cursor.isBefore(UInt8(ascii: "\"")) else { return false }
    }
    if cursor.skip("\"device\":") {
      guard cursor.count(&tokens.device) else { return false }
      if cursor.skip("}") { return true }
      guard cursor.skip(","), cursor.isBefore(UInt8(ascii: "\"")) else { return false }
    }
    if cursor.skip("\"app\":"), !cursor.count(&tokens.app) { return false }
    return cursor.skip("}")
  }

  /// Scans the members behind `tokensLeft`.
  private func rest(_ line: inout DecisionLine, _ cursor: inout ByteCursor) -> Bool {
    if cursor.skip(",\"until\":\"") {
      var until = Timestamp(microseconds: 0)
      guard cursor.instant(&until), cursor.skip("\"") else { return false }
      line.until = until
    }
    if cursor.skip(",\"command\":\"") {
      guard cursor.text(&line.command), cursor.skip("\"") else { return false }
    }
    if cursor.skip(",\"objective\":\"") {
      if cursor.skip("met\"") {
        line.objective = .met
      } else {
        guard cursor.skip("missed\"") else { return false }
        line.objective = .missed
      }
    }
    guard cursor.skip(",\"policy\":{\"version\":\""), cursor.text(&line.policyVersion), cursor.skip("\",\"hash\":\""),
      cursor.text(&line.policyHash), cursor.skip("\"}")
    else { return false }
    if cursor.skip(",\"traceparent\":\"") {
      guard cursor.text(&line.traceparent), cursor.skip("\"") else { return false }
    }
    return cursor.skip("}")
  }
}
