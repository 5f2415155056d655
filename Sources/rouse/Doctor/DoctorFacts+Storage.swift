import Auditing
import Domain
import Installation
import Operating
import Pipeline

/// The checks of the audit store and of disks.
extension DoctorFacts {
  @Sendable static func storeFindings(_ facts: DoctorFacts) -> [Finding] {
    guard let store = facts.store else { return [] }
    var findings: [Finding] = []
    switch store.content {
    case .missing:
      let isDecided = facts.cluster?.progress.contains(where: { $0.role == .audit && $0.high > 0 }) ?? false
      findings.add(.storeMissing, [store.path], as: isDecided ? .wrong : .warning)
    case .failure(let words): findings.add(.storeUnusable, [words])
    case .open(let content):
      if content.recordsMissing > 0 {
        let places = content.holes.map { hole in
          "\(facts.name(hole.topic))[\(hole.partition)]: offsets \(hole.first) to \(hole.next - 1), \(hole.cause.words)"
        }
        findings.add(
          .storeHoles, ["\(store.path): \(Digits.count(content.recordsMissing, "record")) missing"] + places)
      }
      if content.isOpen { findings.add(.fileOpen, [store.path]) }
    }
    return findings
  }

  private func name(_ topic: AuditTopic) -> String { topic == .decisions ? names.decisions : names.commands }

  /// The shares of a file system that are too little, and the times in which it is full that are too short, in seconds.
  private static let (lowShare, fullShare) = (0.1, 0.02)
  private static let (week, day): (Double, Double) = (7 * 86_400, 86_400)

  @Sendable static func diskFindings(_ facts: DoctorFacts) -> [Finding] {
    var findings: [Finding] = []
    for storage in facts.storages {
      let name = "\(storage.path) (\(storage.kind.rawValue))"
      if !storage.isWritable {
        findings.add(.folderClosed, [name], as: storage.kind == .snapshots ? .warning : .wrong)
      }
      if storage.isOpen { findings.add(.fileOpen, [storage.path]) }
      guard let room = storage.room, room.totalBytes > 0 else { continue }
      let share = Double(room.freeBytes) / Double(room.totalBytes)
      var (severity, words): (FindingSeverity?, [String]) = (nil, [])
      if share < lowShare {
        severity = share < fullShare ? .wrong : .warning
        words.append(
          "\(Digits.decimal(share * 100, 1)) % of \(Self.words(bytes: room.totalBytes)) free (\(Self.words(bytes: room.freeBytes)))"
        )
      }
      if storage.kind == .store, let seconds = facts.secondsToFull(room), seconds < week {
        severity = seconds < day || severity == .wrong ? .wrong : .warning
        words.append("full in \(Self.words(seconds: seconds)) at the usual growth of the store")
      }
      if storage.largestFile > room.freeBytes {
        severity = severity ?? .warning
        words.append("no room for a new snapshot of \(Self.words(bytes: storage.largestFile)) beside the old one")
      }
      if let severity { findings.add(.diskFull, ["\(name): \(words.joined(separator: "; "))"], as: severity) }
    }
    return findings
  }

  /// The time after which the store has filled its file system, in seconds; nil if it stays below its own bounds, or has too little
  /// in it to tell. Its growth is its size divided by the time that it covers.
  private func secondsToFull(_ room: FileSystemRoom) -> Double? {
    guard let store, case .open(let content) = store.content, let times = content.times else { return nil }
    let covered = Double(times.upperBound - times.lowerBound) / 1_000_000
    guard covered >= 3600, content.bytes > 0 else { return nil }
    let growth = Double(content.bytes) / covered
    let largest = min(Double(store.bytesMax), growth * Double(store.daysMax) * 86_400)
    guard largest - Double(content.bytes) > Double(room.freeBytes) else { return nil }
    return Double(room.freeBytes) / growth
  }
}

extension AuditHole.HoleCause {
  /// The cause as a clause.
  fileprivate var words: String {
    switch self {
    case .refused: "which the store refused"
    case .passedOver: "which were passed over by order"
    case .removed: "which retention had removed"
    }
  }
}
