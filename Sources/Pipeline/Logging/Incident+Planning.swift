// The texts of incidents of planners.
extension Incident.Texts {
  static let policyRefused = Self(
    "a policy of the log was refused; the one before it stays in force",
    "A policy record of the log cannot be used, for the reasons in `problems`. `rouse policy apply` checks a policy before it writes it, so another release or another program wrote this one.",
    loss: "Nothing. The partition goes on with the policy before it.",
    advice:
      "Check the policy with the `rouse policy check` of the release that runs, and apply it again. `rouse_policy_info` shows the policy in force in each partition."
  )

  static let logRecordUnreadable = Self(
    "a log record is unreadable and became a dead letter",
    "A record of `rouse.log` has bytes that no release writes. The planner wrote it to `rouse.dead-letters` and went on.",
    loss: "What the record said. It has no effect on any device.",
    advice:
      "Look at it with `rouse dead-letters list`. Find out who writes to `rouse.log`, and forbid it ([Securing](Securing.md#permissions)): only Rouse should."
  )

  static let logRecordStops = Self(
    "a log record cannot be read, and its partition stays before it; upgrade if a newer release wrote it, else `rouse skip` passes over it",
    "A record of `rouse.log` has the format of a newer release. The line is repeated every ten minutes while the partition stands.",
    loss:
      "The partition makes no decisions. Its events wait for as long as retention keeps them; intake pauses when the planner is too far behind.",
    advice:
      "Finish the upgrade. If no newer release wrote it, [pass over it](Disasters.md#a-record-that-cannot-be-read) with `rouse skip`."
  )

  static let stateRecordStops = Self(
    "a record of the state cannot be read, and its partition is not planned; upgrade if a newer release wrote it, else `rouse skip` leaves it out; the page about disasters says what is lost then",
    "A planner that restores the partition met a record of `rouse.state` that it cannot read. `holds` says what the record is about. The line is repeated every ten minutes.",
    loss: "The partition makes no decisions until it is restored. Its events wait in `rouse.log`.",
    advice:
      "Finish the upgrade if a newer release wrote the record. Else read [what leaving it out costs](Disasters.md#a-record-of-the-state), and order it with `rouse skip`."
  )

  static let statePositionStops = Self(
    "a record of the state cannot be read, and its partition is not planned; upgrade if a newer release wrote it, else create rouse.state again; the page about disasters says how",
    "As above, and the record holds the position, the clock or the policy of the partition, without which a planner would decide twice.",
    loss: "The partition makes no decisions until it is restored. Its events wait in `rouse.log`.",
    advice:
      "Finish the upgrade if a newer release wrote the record. Else create `rouse.state` again, as [A record of the state](Disasters.md#a-record-of-the-state) says."
  )

  static let outputRefused = Self(
    "the broker refused what follows from a log record, so the record is not planned; compare max.message.bytes of the topics with rouse topics check",
    "The broker refused the decisions, commands or state of one log record three times, for their size or content. `treatment` says how the planner went on.",
    loss:
      "What the record at `origin` would have led to. It is a dead letter with the reason `SET_ASIDE`, unless the broker refuses that, too.",
    advice:
      "Run `rouse topics check` and correct the topics. Then replay the letter with `rouse dead-letters replay`. [A record whose output is refused](Disasters.md#a-record-whose-output-is-refused) has the steps that the planner takes."
  )

  static let logRecordsMissing = Self(
    "records of the log are missing and can no longer be planned",
    "Retention, or a person, removed records of `rouse.log` before a planner had planned them.",
    loss:
      "The records of the partition from the offset `from` up to, but not including, `to`: events, signals and registrations in them.",
    advice:
      "Find out why planners were behind for longer than the retention of `rouse.log`, and raise `retention.ms` or add planner threads. Publish registrations again; events that still matter, too."
  )
}
