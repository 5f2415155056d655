import Domain

extension DeviceSlot {
  /// A delay of up to ten minutes, always the same for a device, so that the devices of a time zone are not all examined
  /// at once.
  var spread: TimeSpan {
    var hash = Hash64()
    hash.add(UInt64(number))
    return TimeSpan(microseconds: Int64(hash.value % UInt64(PushQuestion.examinationInterval.microseconds)))
  }
}
