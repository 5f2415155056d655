public import Observing

/// The metrics of tokens. This is the one place that describes them.
public struct TokenMetrics: Sendable {
  let tokens, reads, keys, readAge: MetricFamily

  /// Adds the metrics to a registry.
  ///
  /// - Parameter registry: The registry.
  public init(_ registry: MetricRegistry) {
    tokens = registry.counter(
      "rouse_oidc_tokens_total",
      [
        MetricLabel(
          "outcome", upTo: TokenRefusal.checks.count + 2,
          "`accepted`, `repeated` for one whose signature was checked before, or the check that failed, such as `expired`"
        )
      ],
      help: "Tokens that clients sent, with what became of them",
      advice:
        "`unknown_key`: the issuer has new keys that cannot be read. `expired`: a client does not renew its token.")
    reads = registry.counter(
      "rouse_oidc_key_reads_total", [MetricLabel("outcome", upTo: 2, "`read` or `failed`")],
      help: "Attempts to read the keys of the issuer",
      advice: "`failed`: the keys from before stay in force. The log and `/status` say why.")
    keys = registry.gauge(
      "rouse_oidc_keys", help: "Keys of the issuer that can check a signature",
      advice: "0: no token is accepted. Look at `oidc.keysFile` or `oidc.keysUrl`.")
    readAge = registry.gauge(
      "rouse_oidc_keys_age_seconds", help: "Time since the keys of the issuer were read or found unchanged",
      advice: "Above an hour: the issuer is away, and a key that it has withdrawn still works.")
  }

  /// Adds made-up figures with every value of the labels, to measure an exposition.
  package func addSample() {
    for outcome in ["accepted", "repeated"] + TokenRefusal.checks { tokens.add(1_000_000, [outcome]) }
    for outcome in ["read", "failed"] { reads.add(1_000_000, [outcome]) }
    keys.set(2)
    readAge.set(300)
  }
}
