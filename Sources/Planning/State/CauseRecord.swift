import Domain

/// An event that waits on an instance, as a device's record holds it.
struct CauseRecord {
  /// The place of the interest among those of the instance, counted from 1; 0 if the instance no longer has it.
  var interest = 0
  /// The place of the event among those that wait on the device, counted from 0.
  var event = 0
  /// The bits of the relevance, as `Cause.relevanceBits` holds them.
  var relevance: Float = 0
  /// The log time at which the event arrived.
  var at = Timestamp(microseconds: 0)
  /// The instant from which the event is not worth showing.
  var expires = Timestamp(microseconds: 0)

  /// Passes each field to a coder, which writes or reads it.
  /// - Parameters:
  ///   - base: The instant to which the next instant in the record is relative, in µs.
  ///   - coder: The writer or the reader.
  /// - Throws: The coder's error.
  mutating func fields<Coder: FieldCoder & StateCoder>(
    since base: inout Int64, _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.varint(&interest, "an interest")
    try coder.varint(&event, "an event")
    try coder.float(&relevance, "a relevance")
    try coder.instant(&at, movingBase: &base, "an instant")
    try coder.instant(&expires, since: base, "an instant")
  }
}
