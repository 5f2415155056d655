import CLibrdkafka
import Glibc

/// Finds the name of a message's topic without making a new `String` for each message.
@safe struct TopicNameCache {
  /// The largest number of cached names; names beyond this number are not cached.
  private static let cachedMax = 64

  private var known: [(bytes: ContiguousArray<CChar>, name: String)] = []
  private var last = 0

  /// Returns the name of a topic; empty for NULL. The pointer must be valid during the call.
  mutating func name(of topic: OpaquePointer?) -> String {
    // A topic's name is a NUL-terminated string that lives as long as the topic; the caller holds a message, and the
    // message a reference to its topic. Names are compared by content, so a reused address cannot confuse them.
    guard let topic = unsafe topic, let text = unsafe rd_kafka_topic_name(topic) else { return "" }
    if last < known.count, unsafe matches(known[last].bytes, text) { return known[last].name }
    for index in known.indices where unsafe matches(known[index].bytes, text) {
      last = index
      return known[index].name
    }
    let name = unsafe String(cString: text)
    if known.count < Self.cachedMax {
      last = known.count
      known.append((ContiguousArray(name.utf8CString), name))
    }
    return name
  }

  private func matches(_ bytes: ContiguousArray<CChar>, _ text: UnsafePointer<CChar>) -> Bool {
    // Both are NUL-terminated.
    unsafe bytes.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return false }
      return unsafe strcmp(base, text) == 0
    }
  }
}
