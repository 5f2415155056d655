/// A consumer's place in its group: the group, the generation and the member. It stays valid after the consumer is closed, and
/// the broker refuses it once the group has moved on to another generation.
public final class KafkaGroupMetadata {
  let handle: GroupMetadataHandle

  init(handle: GroupMetadataHandle) {
    self.handle = handle
  }
}
