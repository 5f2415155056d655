import ArgumentParser
import Auditing
import Domain
import Foundation
import Installation
import KafkaClient
import Operating
import Pipeline
import Policies
import Serving
import Synchronization

/// Gathers the facts for the checks of `rouse doctor`. It writes nothing, neither to Kafka nor to a file, and each step is bounded in time.
struct DoctorProbe {
  /// The options that lead to the settings.
  let options: SettingsOptions
  /// The addresses of processes that the user named, with their pages.
  let named: [(address: String, page: StatusPage)]

  /// Gathers the facts.
  /// - Throws: `ValidationError` for a wrong option. Everything else is a fact.
  func facts() throws -> DoctorFacts {
    var facts = DoctorFacts()
    facts.options = shownOptions
    let settings: Settings
    do {
      settings = try options.resolve()
    } catch let error as Failure {
      facts.settings.refusal = error.description
      return facts
    }
    let pipeline = try pipeline(settings, &facts)
    facts.now = Machine.now.microseconds
    facts.storages = storages(settings)
    if facts.roles.contains(.audit) { facts.store = store(AuditSettings(settings)) }
    if facts.settings.refusal == nil { facts.processes = try processes(settings) }
    if let pipeline { survey(pipeline.cluster, try settings.topicPlan(), &facts) }
    // Asking took a while.
    facts.now = Machine.now.microseconds
    return facts
  }

  /// The options as a user would repeat them, without single settings, which may be secret.
  private var shownOptions: String {
    let parts = [("--config", options.config), ("--bootstrap", options.bootstrap)]
    return parts.compactMap { name, value in value.map { "\(name) \($0.contains(" ") ? "'\($0)'" : $0)" } }
      .joined(separator: " ")
  }

  // MARK: Settings

  /// Looks at the settings and at the files that they name.
  /// - Returns: The settings of the pipeline; nil if they cannot be used.
  private func pipeline(_ settings: Settings, _ facts: inout DoctorFacts) throws -> PipelineSettings? {
    facts.roles = settings.roles
    var secrets: [String] = []
    if let path = settings.text(.kafkaPropertiesFile) {
      secrets.append(path)
      do throws(SettingRefusal) { _ = try KafkaPropertiesFile.read(path) } catch {
        facts.settings.unreadable.append(error.words)
      }
    }
    if let path = settings.text(.tracesHeadersFile) {
      secrets.append(path)
      do throws(SettingRefusal) { _ = try HeadersFile.read(path) } catch {
        facts.settings.unreadable.append(error.words)
      }
    }
    let environment = ProcessInfo.processInfo.environment
    for file in settings.propertyFiles(.kafkaSecretFiles) {
      do throws(SettingRefusal) {
        secrets.append(try file.expanded(environment))
        _ = try file.property(environment)
      } catch {
        facts.settings.unreadable.append(error.words)
      }
    }
    if case .file(let path) = settings[.kafkaProperties].origin,
      settings.properties(.kafkaProperties).contains(where: { KafkaConfiguration.isSecret($0.name) })
    {
      secrets.append(path)
    }
    facts.settings.open = secrets.filter { (Self.permissions($0) ?? 0) & 0o007 != 0 }
    facts.settings.policy = settings.text(.policy).map { Self.policy($0) }
    guard facts.settings.unreadable.isEmpty else { return nil }
    do {
      let pipeline = try settings.pipeline()
      _ = try settings.httpListen()
      _ = try settings.spanCollector()
      _ = try settings.gateway(pipeline)
      _ = try settings.console(pipeline)
      if let tokens = try settings.tokens() { facts.settings.tokenFaults = TokenAuthority.faults(of: tokens) }
      facts.settings.unused = pipeline.cluster.unused
      facts.names = pipeline.topics
      facts.eventTopics = pipeline.eventTopics
      return pipeline
    } catch let error as Failure {
      facts.settings.refusal = error.description
      return nil
    }
  }

  private static func policy(_ path: String) -> DoctorFacts.PolicyFacts {
    do {
      return DoctorFacts.PolicyFacts(path: path, reference: try PolicyFile.document(path).policy.reference)
    } catch {
      let words = ErrorWords(error)
      return DoctorFacts.PolicyFacts(path: path, failure: (words.details.first ?? words.text).description)
    }
  }

  /// Returns the permissions of a file or folder, links followed; nil if there is none.
  private static func permissions(_ path: String) -> Int? {
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    return (try? FileManager.default.attributesOfItem(atPath: target))?[.posixPermissions] as? Int
  }

  // MARK: Processes

  /// Asks all processes at the same time.
  private func processes(_ settings: Settings) throws -> [DoctorFacts.ProcessFacts] {
    var pages = named.map { (address: $0.address, page: $0.page, isNamed: true) }
    if let listen = try settings.httpListen(), let page = StatusPage(listen),
      !pages.contains(where: { $0.page == page })
    {
      pages.insert((listen.text, page, false), at: 0)
    }
    if let others = try settings.otherProcesses() {
      let known = Set(pages.flatMap(\.page.resolved))
      pages += others.resolved.filter { !known.contains($0) }.map { ($0.address, $0, true) }
    }
    return zip(pages, StatusPage.ask(pages.map(\.page))).map { page, answer in
      DoctorFacts.ProcessFacts(address: page.address, isNamed: page.isNamed, answer: answer)
    }
  }

  // MARK: Cluster

  private func survey(_ settings: ClusterSettings, _ plan: TopicPlan, _ facts: inout DoctorFacts) {
    var positions: [KafkaTopicPartition: Int64] = [:]
    for partition in facts.processes.compactMap(\.status).flatMap(\.partitions) {
      positions[KafkaTopicPartition(topic: facts.names.log, partition: partition.number)] = partition.next
    }
    if case .open(let content)? = facts.store?.content {
      for position in content.positions {
        let topic = position.topic == .decisions ? facts.names.decisions : facts.names.commands
        positions[KafkaTopicPartition(topic: topic, partition: position.partition)] = position.next
      }
    }
    let survey = ClusterSurvey(
      settings: settings, state: .planner, plan: plan, roles: facts.roles, positions: positions)
    do throws(KafkaError) {
      facts.cluster = try survey.run()
    } catch {
      facts.brokerFailure = "\(settings.kafka["bootstrap.servers"] ?? "no address"): \(error.message)"
    }
  }

  // MARK: Files

  private func store(_ settings: AuditSettings) -> DoctorFacts.StoreFacts {
    var facts = DoctorFacts.StoreFacts(path: settings.path, content: .missing)
    facts.bytesMax = settings.retention.bytesMax ?? .max
    facts.daysMax = settings.retention.ageMax.map { Int($0.microseconds / 86_400_000_000) } ?? 30
    guard Files.exists(settings.path) else { return facts }
    do throws(AuditError) {
      let store = try AuditStore.open(path: settings.path, options: AuditOptions(access: .read))
      let health = try store.health()
      facts.content = .open(
        DoctorFacts.StoreContent(
          positions: try store.positions(), holes: health.holes, recordsMissing: health.recordsMissing,
          times: health.times, bytes: try store.bytesUsed(), isOpen: store.isReadableByOthers))
    } catch {
      facts.content = .failure(error.description)
    }
    return facts
  }

  private func storages(_ settings: Settings) -> [DoctorFacts.StorageFacts] {
    var storages: [DoctorFacts.StorageFacts] = []
    let places = settings.storage
    let files: [(DoctorFacts.StorageFacts.Kind, String?)] = [
      (.store, places.store), (.devices, places.devices), (.access, places.access),
    ]
    for case (let kind, let path?) in files {
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      let places = [folder] + (Files.exists(path) ? [path] : [])
      // The store itself is looked at when it is opened.
      let isOpen = kind != .store && (Self.permissions(path) ?? 0) & 0o077 != 0
      storages.append(
        DoctorFacts.StorageFacts(
          kind: kind, path: path, room: FileSystemRoom(of: path),
          isWritable: places.allSatisfy { FileManager.default.isWritableFile(atPath: $0) }, isOpen: isOpen))
    }
    if let folder = places.snapshots {
      // A process makes the folder when it begins, if it may.
      let parent = URL(fileURLWithPath: folder).deletingLastPathComponent().path
      let place = Files.exists(folder) ? folder : parent
      storages.append(
        DoctorFacts.StorageFacts(
          kind: .snapshots, path: folder, room: FileSystemRoom(of: folder),
          isWritable: FileManager.default.isWritableFile(atPath: place),
          isOpen: (Self.permissions(folder) ?? 0) & 0o077 != 0, largestFile: Self.largestFile(folder)))
    }
    return storages
  }

  private static func largestFile(_ folder: String) -> Int64 {
    let files = try? FileManager.default.contentsOfDirectory(
      at: URL(fileURLWithPath: folder), includingPropertiesForKeys: [.fileSizeKey])
    return (files ?? []).reduce(0) { largest, file in
      max(largest, Int64((try? file.resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? 0))
    }
  }
}
