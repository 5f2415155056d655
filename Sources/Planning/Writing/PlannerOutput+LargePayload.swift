import Policies

extension PlannerOutput {
  /// Notes a large body, one entry for each kind and band; `members` is asked for the first one only.
  mutating func note(
    _ band: PayloadBand, kind: String, event: String, bytes: Int, bytesMax: Int, members: () -> [LargePayload.Member]
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
