import Domain
import Policies

extension PlannerOutput {
  /// Reports a body if it is near or above the platform's limit. There is one entry for each kind and band.
  /// - Parameters:
  ///   - band: The band of the body's size.
  ///   - kind: The kind of the activity.
  ///   - event: The id of the event.
  ///   - bytes: The size of the body, in bytes.
  ///   - bytesMax: The largest size that the platform accepts, in bytes.
  ///   - members: Returns the largest members; called only for the first body of an entry.
  mutating func note(
    _ band: PayloadBand, kind: Identifier, event: Identifier, bytes: Int, bytesMax: Int,
    members: () -> [LargePayload.Member]
  ) {
    guard band >= .risky else { return }
    if let place = largePayloads.firstIndex(where: { $0.band == band && $0.kind == kind }) {
      largePayloads[place].count += 1
      return
    }
    largePayloads.append(
      LargePayload(kind: kind, event: event, band: band, bytes: bytes, bytesMax: bytesMax, members: members()))
  }
}
