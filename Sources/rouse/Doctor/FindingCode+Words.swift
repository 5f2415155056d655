/// The words about each kind of finding. The advice names commands with `OPTIONS`, which stands for the options by which the command was
/// given its settings.
extension FindingCode {
  /// All words about a kind of finding.
  struct FindingWords {
    /// The worst severity that a finding of this kind can have.
    var worst: FindingSeverity
    /// The finding in a few words, as a clause without a full stop.
    var title: String
    /// The condition, as a sentence.
    var condition: String
    /// The consequences, as a sentence or two.
    var meaning: String
    /// The instruction, as a sentence or two.
    var advice: String

    fileprivate init(
      _ worst: FindingSeverity, _ title: String, when condition: String, means: String, do advice: String
    ) {
      self.worst = worst
      self.title = title
      self.condition = condition
      meaning = means
      self.advice = advice
    }
  }

  /// Returns the instruction with the user's own options.
  /// - Parameter options: The options, such as `--config rouse.yaml`.
  func advice(_ options: String) -> String {
    meaning.advice.replacing(" OPTIONS", with: options.isEmpty ? "" : " \(options)")
  }

  /// The words about this kind.
  var meaning: FindingWords {
    switch self {
    case .settingsRefused, .secretUnreadable, .tokensUnchecked, .brokerAway, .accessRefused, .fileOpen, .propertyUnused,
      .notChecked:
      wayMeaning
    case .topicMissing, .topicPartitions, .topicLeaderless, .topicSetting, .topicReplicas, .topicCompaction:
      topicMeaning
    case .recordsLost, .positionBeyond, .recordsExpire, .plannerLag, .intakeLag, .auditLag, .clockApart: lagMeaning
    case .partitionStopped, .processStuck, .processUnready, .processAway, .partitionUnplanned, .versionsDiffer:
      processMeaning
    case .policyMissing, .policyRefused, .policyDiffers, .policyPending, .policyFile: policyMeaning
    case .auditGaveUp, .storeUnusable, .storeMissing, .diskFull, .folderClosed, .storeHoles: storageMeaning
    }
  }

  private var wayMeaning: FindingWords {
    switch self {
    case .settingsRefused:
      FindingWords(
        .wrong, "the settings cannot be used",
        when: "The settings file, a variable of the environment or a combination of settings is refused.",
        means:
          "`rouse run` ends at once with the same words. Nothing else is checked, because the settings say where to look.",
        do: "Mend what the words name. `rouse run --print-config OPTIONS` shows each value and its origin.")
    case .secretUnreadable:
      FindingWords(
        .wrong, "a file with a secret cannot be used",
        when:
          "A file of `kafka.propertiesFile`, `kafka.secretFiles` or `traces.headersFile` is missing, cannot be read by this user, or does not hold what it should.",
        means:
          "No process with these settings can start. The cluster is not asked, because the way to it is not known.",
        do:
          "Put the file where the settings say, and let the user of the process read it. For a credential of systemd, run the command within the unit's environment."
      )
    case .brokerAway:
      FindingWords(
        .wrong, "no broker answers",
        when: "None of the brokers of `kafka.bootstrapServers` answers within 5 s.",
        means:
          "Processes can neither read nor write. Nothing is lost: they go on when the brokers are back. Topics, access, lag and the clock of the brokers are not checked.",
        do:
          "Check the address, the network, the certificates and the passwords: `rouse topics check OPTIONS` shows the error of the connection. Then look at the brokers themselves."
      )
    case .accessRefused:
      FindingWords(
        .wrong, "the cluster refuses a permission that a role needs",
        when:
          "The cluster refuses to describe or to read a topic or a group that a role of `roles` needs. Permissions to write cannot be seen.",
        means: "Stages of that role fail, and start again and again.",
        do: "Let an administrator add the permissions that `rouse topics acls OPTIONS --principal User:NAME` prints.")
    case .fileOpen:
      FindingWords(
        .warning, "other users of this machine can read a file with secrets",
        when:
          "The file or folder has permissions for others than its owner and its group; for the audit store and snapshots, for others than its owner.",
        means: "They can read passwords, or push tokens and ids of devices.",
        do: "Take the permissions away: `chmod o= FILE`; for the store and the folder of snapshots `chmod go= FILE`.")
    case .tokensUnchecked:
      FindingWords(
        .wrong, "tokens cannot be checked",
        when:
          "The keys of `oidc.issuer` cannot be read, none of them can check a signature, or the file of grants cannot be used. The issuer is asked from here, where another network may be between.",
        means:
          "A gateway or console that starts now accepts no token, or does not start. One that runs goes on with the keys and grants from before. Keys of the key file work.",
        do: "Mend the file, or the way to the issuer: [OIDC tokens](Securing.md#when-a-token-is-refused).")
    case .propertyUnused:
      FindingWords(
        .warning, "a property of librdkafka is set that Rouse sets itself",
        when: "`kafka.properties` or one of its files names such a property.",
        means: "The value has no effect.",
        do: "Remove it. The page of settings says which settings of Rouse exist for the purpose.")
    default:
      FindingWords(
        .warning, "something could not be looked at",
        when: "The cluster does not answer a question, refuses one that only this command asks, or the time was over.",
        means: "There may be something wrong that is not listed here.",
        do:
          "Run the command again. If a permission is missing, `rouse topics acls OPTIONS --principal User:NAME --roles check` prints those that help."
      )
    }
  }

  private var topicMeaning: FindingWords {
    switch self {
    case .topicMissing:
      FindingWords(
        .wrong, "topics are missing",
        when: "A topic of Rouse, or one of `topics.events`, is not there, or this principal may not describe it.",
        means:
          "Stages that use them cannot start. Brokers that make topics by themselves would make them with wrong settings.",
        do:
          "Make the topics of Rouse with `rouse topics create OPTIONS`. Topics with events belong to the data teams: let them be made, or name others in `topics.events`."
      )
    case .topicPartitions:
      FindingWords(
        .wrong, "topics have another number of partitions than the settings say",
        when: "The number differs from `topics.partitions`.",
        means:
          "If `rouse.log` and `rouse.state` differ from each other, devices are looked for in the wrong partition. If all topics agree, only the setting is wrong.",
        do:
          "If all topics agree, set `topics.partitions` to what is there. Otherwise use a new `topics.prefix`: partitions cannot be changed."
      )
    case .topicLeaderless:
      FindingWords(
        .wrong, "partitions have no leader",
        when: "No broker leads a partition of a topic.",
        means:
          "The partition can be neither read nor written. Nothing is lost if the broker with the last good copy comes back.",
        do:
          "Start the broker that is down. If its disk is lost, follow [A lost broker disk](Disasters.md#a-lost-broker-disk)."
      )
    case .topicSetting:
      FindingWords(
        .wrong, "topics have other settings than they should have",
        when:
          "A setting differs from what `rouse topics create` sets. It is a warning if the topic only keeps records for longer or takes larger ones.",
        means:
          "Depending on the setting: records are removed too early, the state is not compacted, log time is not the broker's, or large records are refused.",
        do:
          "Change it with the broker's tools: `kafka-configs.sh --alter --entity-type topics --entity-name TOPIC --add-config NAME=VALUE`."
      )
    case .topicReplicas:
      FindingWords(
        .warning, "topics have too few copies",
        when:
          "Fewer copies of a partition are up to date than there should be, or there is one copy on a cluster of several brokers.",
        means: "The loss of one more disk can lose records: registrations, waiting changes and budgets of the day.",
        do:
          "Start the brokers that are missing. Add copies with `kafka-reassign-partitions.sh`, and set `topics.replicas` to 3 before topics are made."
      )
    default:
      FindingWords(
        .warning, "the broker does not compact a topic",
        when:
          "The records older than an hour take more than three times the bytes that can be alive, and four segments.",
        means: "A restore reads more than it needs, so restarts and take-overs are slow.",
        do:
          "Look at the log cleaner of the partition's leader: `log.cleaner.enable`, errors in log-cleaner.log, `log.cleaner.threads`. `rouse topics check OPTIONS` measures again."
      )
    }
  }

  private var lagMeaning: FindingWords {
    switch self {
    case .recordsLost:
      FindingWords(
        .wrong, "records were removed before they were read",
        when: "The position of a reader is before the oldest record that its partition still holds.",
        means:
          "What these records said has no effect: events and registrations never reach a device, decisions and commands are missing in the audit.",
        do:
          "Let the reader run: it goes on with the oldest record, and says what is missing. Raise `retention.ms` of the topic above the longest time that readers may be away. Publish again what still matters."
      )
    case .positionBeyond:
      FindingWords(
        .wrong, "a position is beyond the end of its topic",
        when: "A planner or the audit store goes on at an offset that the partition does not have yet.",
        means:
          "The topic was deleted and made again, and `rouse.state` or the audit store still counts by the old one. A planner ends, and says that the log no longer holds its position. The audit leaves out decisions whose ids it has seen.",
        do: "Stop all processes, and follow [Recreating the topics](Disasters.md#recreating-the-topics).")
    case .recordsExpire:
      FindingWords(
        .wrong, "records are about to be removed before they are read",
        when: "The oldest record that waits is older than half of the topic's `retention.ms`.",
        means: "If the reader does not come that far in the time that is left, the records have no effect.",
        do:
          "Raise the retention first: `kafka-configs.sh --alter --entity-type topics --entity-name TOPIC --add-config retention.ms=MILLISECONDS`. Then mend the reader."
      )
    case .plannerLag:
      FindingWords(
        .wrong, "planners are behind",
        when: "The oldest record of `rouse.log` that waits is older than 60 s, which is a warning, or than 15 minutes.",
        means: "Devices learn of changes that much later. Changes beyond the `maxAge` of their rule never reach them.",
        do:
          "See whether planner processes run and are ready. If they do, add `planner.workers` up to the number of cores, then processes."
      )
    case .intakeLag:
      FindingWords(
        .wrong, "intake is behind",
        when:
          "The oldest record of a public topic that waits is older than 60 s, which is a warning, or than 15 minutes.",
        means: "Events, registrations and signals take effect that much later.",
        do:
          "See whether a process with the role intake runs, and whether it pauses because planners are behind (`rouse_intake_pauses_total`). Add `intake.threads`, or processes."
      )
    case .auditLag:
      FindingWords(
        .wrong, "the audit is behind",
        when:
          "The oldest decision or command that is not stored is older than 10 minutes, which is a warning, or than 6 hours.",
        means:
          "Answers of `rouse audit` are that old. Pushes are not affected. What the topics no longer keep is lost to the audit.",
        do:
          "See whether a process with the role audit runs, and whether its log says that the store refuses. Give the store a faster disk."
      )
    default:
      FindingWords(
        .warning, "the clock of this machine is apart from another one",
        when:
          "The times of new records of `rouse.log`, which the broker sets, or the `time` that a process says at `/status`, are more than 5 s away from the clock of this machine. This machine being ahead of the broker is only seen while records arrive.",
        means:
          "Budgets and timers follow the broker's clock and are right. Lag in seconds, and the expiry of commands at the sender, are wrong by the difference. A process whose clock is more than an hour ahead of the brokers does no work, because they refuse what it writes.",
        do: "Synchronise both machines: `timedatectl status` and `chronyc tracking` say how far each is off.")
    }
  }

  private var processMeaning: FindingWords {
    switch self {
    case .partitionStopped:
      FindingWords(
        .wrong, "planning of a partition has stopped before a record that cannot be read",
        when: "A process reports a log partition as stopped.",
        means: "No device of the partition gets a push. Nothing is lost as long as retention keeps the log.",
        do:
          "If a newer release wrote the record, finish the upgrade: [Upgrade](Deploying.md#upgrade). Otherwise follow [A record that cannot be read](Disasters.md#a-record-that-cannot-be-read)."
      )
    case .processStuck:
      FindingWords(
        .wrong, "a thread of a process stands still",
        when: "A thread has made no turn for 60 s.",
        means:
          "Its partitions are not worked on. After 5 minutes `/livez` fails, and a service manager starts the process again.",
        do:
          "A planner waits for the brokers to take a commit, the audit for its disk: look there. Then start the process again."
      )
    case .processUnready:
      FindingWords(
        .wrong, "a process is not ready",
        when: "A process answers with reasons why it is not ready.",
        means: "Some of its partitions are not planned yet. This is usual for the first minute of a process.",
        do: "Read the reasons. Wait if the state is being read; otherwise read the log of the process.")
    case .processAway:
      FindingWords(
        .wrong, "a process does not answer",
        when: "Nothing answers at an address of `--status`, or, which is a warning, at `http.listen` of the settings.",
        means:
          "The process does not run, or listens elsewhere. The policy in force and the state of partitions are not checked for it.",
        do:
          "Start it, or name the addresses of the processes that run: `rouse doctor OPTIONS --status http://HOST:9464`."
      )
    case .partitionUnplanned:
      FindingWords(
        .warning, "partitions belong to none of the processes that were asked",
        when: "All processes answer, and none of them has a log partition that exists.",
        means: "If these are all processes, no device of the partition gets a push.",
        do:
          "Ask the other processes too: `rouse doctor OPTIONS --status http://HOST:9464`, once for each. If there are none, start one."
      )
    default:
      FindingWords(
        .warning, "processes run different releases",
        when: "A process answers with another version than that of this program.",
        means:
          "This is usual during an upgrade, and at no other time. A record of a newer format stops a partition of an older release.",
        do: "Finish the upgrade, or take it back: [Upgrade](Deploying.md#upgrade).")
    }
  }

  private var policyMeaning: FindingWords {
    switch self {
    case .policyMissing:
      FindingWords(
        .wrong, "partitions have no policy",
        when: "A process plans a partition in which no policy is in force.",
        means: "Every event of the partition ends as `NO_MATCH`, and no device gets a push.",
        do: "Put one into force: `rouse policy apply policy.yaml OPTIONS`.")
    case .policyRefused:
      FindingWords(
        .wrong, "a policy of the log is refused",
        when:
          "A process reports that it refused the newest policy of a partition, or this release does not accept that record.",
        means: "The partition goes on with the policy before it.",
        do:
          "Check the document with the release that runs: `rouse policy check policy.yaml`. Mend it, and apply it again."
      )
    case .policyDiffers:
      FindingWords(
        .wrong, "partitions have different policies",
        when: "Processes report different policies, or the newest policies of the log differ between partitions.",
        means: "Devices are treated by different rules, depending on their partition.",
        do:
          "If some partitions lag, wait for them. Otherwise put the same policy into all: `rouse policy apply policy.yaml OPTIONS`."
      )
    case .policyPending:
      FindingWords(
        .warning, "a policy of the log is not in force yet",
        when: "The newest policy record of a partition is behind the position of its planner.",
        means: "The partition goes on with the policy before it until its planner reads the record.",
        do: "Wait until the planner has caught up. If it does not, see PLANNER_LAG.")
    default:
      FindingWords(
        .warning, "the policy file of the settings is not the policy in force",
        when: "The file of the setting `policy` cannot be used, or processes report another policy.",
        means:
          "The file counts only for a log that is empty. A process cannot start on a new, empty log without it, and a change to it has no effect by itself.",
        do:
          "Check it with `rouse policy check policy.yaml`. To put it into force, use `rouse policy apply policy.yaml OPTIONS`."
      )
    }
  }

  private var storageMeaning: FindingWords {
    switch self {
    case .auditGaveUp:
      FindingWords(
        .wrong, "the audit of a process has given up",
        when:
          "A process says that its audit cannot work, and that its other roles go on. The store is damaged, may not be written, was moved away or overwritten while it was in use, or a permission is missing.",
        means:
          "Nothing is stored, and answers of `rouse audit` end there. Decisions and commands wait in their topics as long as these keep them. Pushes are not affected.",
        do:
          "Do what the words say. The audit goes on by itself within 30 s. To make a new store from the topics, move the old one away as [A lost audit store](Disasters.md#a-lost-audit-store) says."
      )
    case .storeUnusable:
      FindingWords(
        .wrong, "the audit store cannot be used",
        when: "The file of `audit.store` cannot be opened, is damaged, or has another format.",
        means:
          "The audit stores nothing, and `rouse audit` has no answers. Decisions and commands wait in their topics as long as these keep them.",
        do:
          "Do what the words say. To make a new one from the topics, follow [A lost audit store](Disasters.md#a-lost-audit-store)."
      )
    case .storeMissing:
      FindingWords(
        .wrong, "there is no audit store",
        when:
          "The settings have the role audit, and the file of `audit.store` does not exist. It is a warning if nothing was decided yet.",
        means:
          "A process with the role audit makes it when it starts, and fills it from the topics as far back as these reach.",
        do:
          "See whether the path is right and a process with the role audit runs here. If the file was lost, follow [A lost audit store](Disasters.md#a-lost-audit-store)."
      )
    case .diskFull:
      FindingWords(
        .wrong, "a disk is nearly full",
        when:
          "Less than 2 % of the file system is free, or the store will fill it within a day at its usual growth. Less than 10 %, or a week, is a warning. So is a folder with less room than its largest snapshot.",
        means:
          "Without room the audit stores nothing and its answers become old; snapshots are not written, and restarts read `rouse.state`. A view of devices becomes old, and changes of devices that cannot be recorded are refused. Planning goes on.",
        do: "Make room, or lower `audit.storeMegabytesMax` or `audit.retentionDays`, and start the process again.")
    case .folderClosed:
      FindingWords(
        .wrong, "a folder or file cannot be written",
        when:
          "This user may not write to the folder, or to the file, of the audit store, of snapshots, of a view of devices, or of a gateway's access records, or the folder does not exist. For snapshots it is a warning.",
        means:
          "The audit cannot store. Without snapshots, restarts read `rouse.state`. A gateway or a console does not start without its view, and a gateway refuses changes of devices that it cannot record.",
        do: "Make the folder, and give it to the user of the process. Run this command as that user.")
    default:
      FindingWords(
        .warning, "the audit store has holes",
        when: "The store has noted records that it will never have.",
        means: "`rouse audit` has no answers about them. The pushes themselves were ordered as decided.",
        do:
          "List them with `rouse audit summary --store FILE`. Raise the retention of the topics above the longest time that the store may be away."
      )
    }
  }
}
