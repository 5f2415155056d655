/// Every bound on what the outside may send, in one place. More than this is refused with the bound named.
public enum DomainBounds {
  /// Bytes of one event, registration or signal. Kafka's default message limit is 1 MiB; events are small.
  public static let recordBytesMax = 262_144
  /// Levels of nesting in JSON.
  public static let nestingMax = 32
  /// Scalars kept of one event's data; more is refused.
  public static let eventFieldsMax = 256
  /// Bytes of one text of a policy and of one header of a command.
  public static let fieldBytesMax = 1024
  /// Bytes kept of one string of an event's data: more than any push takes. A longer one is cut, so that a payload that
  /// shows it is refused by its size, and not told without it.
  public static let eventTextBytesMax = 8192
  /// Bytes of ids, subjects, types, sources, kinds, interest keys, app ids.
  public static let nameBytesMax = 256
  /// Bytes of a push token as text. APNs tokens have no fixed length; today's have 64 to 200 digits.
  public static let tokenBytesMax = 512
  /// Widgets, controls and activities of one device together.
  public static let instancesPerDeviceMax = 64
  /// Interest keys of one instance.
  public static let interestsPerInstanceMax = 64
  /// Different interest keys of one event, over all kinds; a planner notes them as the bits of a word. The first ones
  /// count, in the order of the policy; `rouse policy check` warns of a policy that can make more.
  public static let interestsPerEventMax = 64
}
