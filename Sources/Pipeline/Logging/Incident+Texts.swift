extension Incident {
  /// The texts of an incident: the message of its line, and the columns of their table on the page about observability.
  struct Texts: Sendable {
    let message: String
    let meaning: String
    let loss: String
    let advice: String

    /// Stores the texts.
    ///
    /// - Parameters:
    ///   - message: The message, without values.
    ///   - meaning: The cause.
    ///   - loss: The data or the work that is lost.
    ///   - advice: The steps to take.
    init(_ message: String, _ meaning: String, loss: String, advice: String) {
      self.message = message
      self.meaning = meaning
      self.loss = loss
      self.advice = advice
    }
  }

  /// The texts of this incident.
  var texts: Texts {
    switch self {
    case .runFailed: .runFailed
    case .stageGaveUp: .stageGaveUp
    case .stageRestarts: .stageRestarts
    case .batchUnreadable: .batchUnreadable
    case .stateBatchUnreadable: .stateBatchUnreadable
    case .recordsSkipped: .recordsSkipped
    case .deadLetterRefused: .deadLetterRefused
    case .policyRefused: .policyRefused
    case .logRecordUnreadable: .logRecordUnreadable
    case .logRecordStops: .logRecordStops
    case .stateRecordStops: .stateRecordStops
    case .statePositionStops: .statePositionStops
    case .outputRefused: .outputRefused
    case .logRecordsMissing: .logRecordsMissing
    case .auditGaveUp: .auditGaveUp
    case .auditStoreRefuses: .auditStoreRefuses
    case .auditHousekeepingFailed: .auditHousekeepingFailed
    case .auditRecordRefused: .auditRecordRefused
    case .auditRecordUnreadable: .auditRecordUnreadable
    case .auditRecordsMissing: .auditRecordsMissing
    }
  }
}

// MARK: The process and its stages

extension Incident.Texts {
  static let runFailed = Self(
    "the process ends with an error",
    "`rouse run` could not start or go on, for the reason in `error`. Only `log.format=json` has this line; otherwise the same words follow `rouse:` as the last line. The exit code is 1.",
    loss: "Nothing. Records stay in their topics, and the next start goes on where the last commit was.",
    advice:
      "Do what `error` says, and start the process again. `rouse run --print-config` shows every setting and where it comes from."
  )

  static let stageGaveUp = Self(
    "a stage gave up, so the process ends",
    "The stage in `role` met an error that a restart of the stage does not mend: a topic of decisions with too few partitions, a missing permission, a wrong setting, another process with the same `instance`, or a store or record of another release. An audit beside other roles has `auditGaveUp` instead. All stages of the process end, with exit code 1.",
    loss: "Nothing. Records stay in their topics until a process takes them.",
    advice:
      "Do what `error` says; `rouse topics check` compares the topics, and [Securing](Securing.md#permissions) lists the permissions. Then start the process again."
  )

  static let stageRestarts = Self(
    "a stage ended with an error and is started again",
    "The stage in `role` met the error in `error` and is started again after `seconds`, which grow to 30.",
    loss: "Nothing. What was not committed is read and decided again; meanwhile the stage lags behind.",
    advice:
      "A few such lines while brokers restart are usual. If they go on for minutes, check the brokers and the network, and act on `error`. If it says that there is no topic of a name, make Rouse's topics with `rouse topics create`; the stage then goes on by itself."
  )
}

// MARK: Reading and passing over

extension Incident.Texts {
  static let batchUnreadable = Self(
    "a batch of records cannot be unpacked, and nothing behind it in its partition is read; `rouse skip` passes over it; the page about disasters says what else to do",
    "librdkafka cannot unpack a compressed batch of a topic: it is too large for `receive.message.max.bytes`, damaged, or compressed by an unknown codec.",
    loss:
      "Nothing yet. The records behind the batch wait, and are lost when the topic's retention removes them. Other partitions go on.",
    advice:
      "Follow [A record that cannot be read](Disasters.md#a-record-that-cannot-be-read): give the batch more memory, or pass over it with `rouse skip`."
  )

  static let stateBatchUnreadable = Self(
    "a batch of the state cannot be unpacked, so its partition is not restored; create rouse.state again; the page about disasters says how",
    "librdkafka cannot unpack a batch of `rouse.state`, so the planner cannot restore the partition.",
    loss: "The partition makes no decisions. Its events wait in `rouse.log` for as long as retention keeps them.",
    advice:
      "If the batch is only large, raise `receive.message.max.bytes`. Else create `rouse.state` again, as [A record of the state](Disasters.md#a-record-of-the-state) says."
  )

  static let recordsSkipped = Self(
    "records were passed over, as an operator ordered",
    "Somebody ran `rouse skip` for this place, and a stage took the order.",
    loss:
      "The records of `partition` from the offset `from` up to, but not including, `to`. For `rouse.state`, see [what is lost](Disasters.md#a-record-of-the-state).",
    advice: "Ask who wrote the records to publish them again."
  )

  static let deadLetterRefused = Self(
    "a record could not be accepted, and the broker refuses its dead letter; the record is passed over, and only its own topic has it",
    "Intake refused a record for `reason`, and the broker then refused the dead letter in every form, also without the record's bytes.",
    loss: "The record has no effect and no dead letter. It stays in its own topic until retention removes it.",
    advice:
      "Compare the settings of `rouse.dead-letters` with `rouse topics check`, above all `max.message.bytes`. Look at the record at `place`, and have it published again in a correct form."
  )
}
