// The texts of incidents of the audit.
extension Incident.Texts {
  static let auditGaveUp = Self(
    "the audit gave up; the other roles of the process go on",
    "The audit cannot work, for the reason in `error`: the store is damaged, may not be written, was moved away or overwritten while it was in use, is of another release, or a permission is missing. A process with the role audit alone ends instead, with `stageGaveUp`.",
    loss:
      "Nothing as long as `rouse.decisions` and `rouse.commands` keep the records. Answers of `rouse audit` end at the last record that was stored.",
    advice:
      "Do what `error` says. A damaged store is moved away together with its `-wal` and `-shm` ([A lost audit store](Disasters.md#a-lost-audit-store)). The audit is tried again every 30 s and goes on by itself."
  )

  static let auditStoreRefuses = Self(
    "the audit store refuses; trying again",
    "The store could not take records in, for the reason in `error`: the disk is full or slow, or another program has locked the file.",
    loss:
      "Nothing as long as `rouse.decisions` and `rouse.commands` keep the records. Answers of `rouse audit` end at the last record that was stored.",
    advice:
      "Free disk space, or end the program that holds the file. The audit goes on by itself, after a pause of up to 10 s."
  )

  static let auditHousekeepingFailed = Self(
    "audit housekeeping failed",
    "The store could not remove decisions that are older than `audit.retentionDays` or beyond `audit.storeMegabytesMax`. It is tried again every ten seconds.",
    loss: "Nothing. The file grows beyond its bounds.",
    advice: "Act on `error`: usually the disk is full, or another program has locked the file."
  )

  static let auditRecordRefused = Self(
    "the audit store refuses a record for its content, so it is left out of the audit; `rouse audit summary` lists it",
    "The store refused one decision or command three times for its content.",
    loss: "This record is missing in the audit. Its topic has it until retention removes it.",
    advice:
      "Save the record at `place` from its topic if you need it, and report `error` with it: a release should write no such record."
  )

  static let auditRecordUnreadable = Self(
    "no release of this program writes such a record: what is no decision and no command is left out of the audit; look at it at its place, and find out who writes to the topic",
    "A record of `rouse.decisions` or `rouse.commands` is not as a release writes it. At most one line in ten seconds is logged for each partition; `repetitions` counts the others.",
    loss:
      "Nothing of Rouse's, unless the record was damaged: then the decisions in the lines that `unreadable` counts.",
    advice:
      "Find out who writes to the topic, and forbid it ([Securing](Securing.md#permissions)): only planners should."
  )

  static let auditRecordsMissing = Self(
    "records were removed before the audit had stored them and are missing there; raise the topic's retention above the longest time that the store may be away",
    "Retention removed records of `rouse.decisions` or `rouse.commands` while the audit was behind or away.",
    loss:
      "The records of `partition` from the offset `from` up to, but not including, `to` are missing in the audit for good. `rouse audit summary` lists the hole.",
    advice:
      "Raise `retention.ms` of the topic above the longest time that the audit may be away, or let two processes keep a store each."
  )
}
