/// The bounds on records from outside. A record that exceeds one is refused, and the message names the bound.
public enum DomainBounds {
  /// The bytes of one event, registration or signal. Kafka's default message limit is 1 MiB; events are small.
  /// - Beyond: a dead letter, `TOO_LARGE`.
  public static let recordBytesMax = 262_144
  /// The bytes of a record's key. Only devices are keys with a meaning, and they have at most `nameBytesMax` bytes. Publishers
  /// choose other keys for events; a dead letter keeps a key of this size whole.
  /// - Beyond: a dead letter, `TOO_LARGE`, with the first bytes of the key.
  public static let keyBytesMax = 4096
  /// The bytes of all headers of a record: names, values, and `headerOverheadBytes` for each header. Attributes of an event in
  /// binary mode and trace contexts take a few hundred bytes. A record within all bounds, with the headers that a dead letter
  /// adds, stays far below Kafka's default limit of 1 MiB.
  /// - Beyond: a dead letter, `TOO_LARGE`, without the headers that do not fit.
  public static let headersBytesMax = 65_536
  /// The bytes that each header counts in addition to its name and value, so that empty headers are bounded too.
  public static let headerOverheadBytes = 16
  /// The span by which the time of a record may be ahead of intake's clock: as much as Kafka 4 allows by default
  /// (`message.timestamp.after.max.ms`). A time far ahead would make every later record of the subject, the device or, with
  /// `timestamps=event`, the whole log partition look old.
  /// - Beyond: a dead letter, `OUT_OF_BOUNDS`.
  public static let aheadMax = TimeSpan.seconds(3600)
  /// The earliest time of a record: 1970, because Kafka has no earlier timestamps.
  /// - Beyond: a dead letter, `OUT_OF_BOUNDS`.
  public static let earliestTime = Timestamp(microseconds: 0)
  /// The levels of nesting in JSON.
  /// - Beyond: a dead letter, `TOO_DEEP`.
  public static let nestingMax = 32
  /// The scalars in the data of one event.
  /// - Beyond: a dead letter, `OUT_OF_BOUNDS`.
  public static let eventFieldsMax = 256
  /// The bytes of one text of a policy, and of one header of a command.
  /// - Beyond: an error with its place; the policy or the command is refused.
  public static let fieldBytesMax = 1024
  /// The bytes that are kept of one string of an event's data. A longer string is cut. The bound is larger than any push, so a
  /// payload that contains the cut string is refused for its size instead of being sent with a part of it.
  /// - Beyond: the string is cut between two characters.
  public static let eventTextBytesMax = 8192
  /// The bytes of ids, subjects, types, sources, kinds, interest keys, app ids.
  /// - Beyond: a dead letter, `OUT_OF_BOUNDS`; in a policy, an error with its place.
  public static let nameBytesMax = 256
  /// The bytes of a push token as text. APNs tokens have no fixed length; today they have 64 to 200 digits.
  /// - Beyond: a dead letter, `OUT_OF_BOUNDS`.
  public static let tokenBytesMax = 512
  /// The bytes of the event ids that a command lists for one instance, as JSON with quotes, commas and escapes. 32 ids of 125
  /// bytes without escapes fit. The oldest of more are left out and counted, so that a command for 64 instances takes less
  /// than the 1 MB that brokers accept by default.
  /// - Beyond: the command counts the oldest events and does not list them.
  public static let servedEventBytesMax = 4096
  /// The bytes of a device id in decisions and commands. The longest one stands for a broadcast channel:
  /// `channel/<app>/production/<channel>`.
  public static let plannedDeviceBytesMax =
    Registration.channelPrefix.utf8.count + nameBytesMax + "/production/".utf8.count + tokenBytesMax
  /// The bytes of an instance id in decisions and commands. The longest one stands for a push-to-start token: `start/<kind>`.
  public static let plannedInstanceBytesMax = Registration.starterID(kind: "").utf8.count + nameBytesMax
  /// The bytes of one decision or command. A command for 64 widgets whose ids, kinds and events JSON escapes sixfold takes
  /// 0.7 MB, and brokers accept 1 MB by default.
  /// - Beyond: `rouse audit` and `rouse verify` refuse the record.
  public static let plannedRecordBytesMax = 1 << 20
  /// The bytes of the body of a push in a command. A profile allows up to 65,536 (`PolicyBounds.payloadBytes`). A background
  /// push names up to 64 kinds, which JSON escapes sixfold to 98,304 bytes at most.
  /// - Beyond: `rouse audit` and `rouse verify` refuse the command.
  public static let payloadBytesMax = 131_072
  /// The widgets, controls and activities of one device together.
  /// - Beyond: a dead letter, `OUT_OF_BOUNDS`.
  public static let instancesPerDeviceMax = 64
  /// The interest keys of one instance.
  /// - Beyond: a dead letter, `OUT_OF_BOUNDS`.
  public static let interestsPerInstanceMax = 64
  /// The distinct interest keys of one event, over all kinds. A planner keeps them as the bits of a word. Of more keys the first
  /// ones count, in the order of the policy; `rouse policy check` warns of a policy that can make more.
  /// - Beyond: subscribers to the further keys are skipped. Planners log it, and `rouse plan` counts it.
  public static let interestsPerEventMax = 64
}
