import Domain
import Planning
import Policies

extension FuzzTarget {
  /// Whole partitions: records in, decisions and state out.
  static let plannerTargets = [pipeline, log]

  /// Public records through intake's decoders and a planner. A chunk is a letter (see ``FuzzPipeline/content(_:_:)``), two bytes
  /// for the seconds since the record before, low byte first, and the record. A capital letter dates the log by the event, as
  /// `timestamps=event` does.
  private static let pipeline = FuzzTarget(
    name: "pipeline", form: .frames, cases: 500, seeds: { beginnings(of: FuzzFrames.split(FuzzTraffic.publicRecords)) },
    body: { input in
      var pipeline = try FuzzPipeline()
      var now = FuzzPipeline.noon
      for (index, chunk) in FuzzFrames.split(input).prefix(64).enumerated() where chunk.count >= 3 {
        let letter = Character(Unicode.Scalar(chunk[0]))
        let text = Array(chunk.dropFirst(3))
        guard let content = try FuzzPipeline.content(Character(letter.lowercased()), text) else { continue }
        now += (Int64(chunk[1]) | Int64(chunk[2]) << 8) * 1_000_000
        var time = now
        if letter.isUppercase, case .event(let event) = content { time = event.time.microseconds }
        var record: [UInt8] = []
        LogRecord(origin: Origin(topic: "t", partition: 0, offset: Int64(index)), content: content)
          .encode(into: &record)
        try pipeline.plan(record, at: time)
      }
      try requireRestores(pipeline)
    })

  /// Records of the log as bytes, which may be any. A chunk is the timestamp in eight bytes, low byte first, and the record.
  private static let log = FuzzTarget(
    name: "log", form: .frames, cases: 500,
    seeds: {
      let chunks = try FuzzTraffic.logRecords().enumerated().map { index, record in
        bytes(of: FuzzPipeline.noon + Int64(index) * 60_000_000) + record
      }
      return beginnings(of: chunks)
    },
    body: { input in
      var pipeline = try FuzzPipeline()
      for chunk in FuzzFrames.split(input).prefix(64) where chunk.count >= 8 {
        let time = chunk.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        try pipeline.plan(Array(chunk.dropFirst(8)), at: Int64(bitPattern: time))
      }
      try requireRestores(pipeline)
    })

  /// The whole story and its beginnings, which are read faster.
  private static func beginnings(of story: [[UInt8]]) -> [[UInt8]] {
    [story.count, 5, 8, 12].map { FuzzFrames.join(Array(story.prefix($0))) }
  }

  static func bytes(of number: Int64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  /// - Throws: a finding unless a planner that is restored from the state goes on as the first one does.
  private static func requireRestores(_ pipeline: FuzzPipeline) throws {
    var one = pipeline
    var other = try pipeline.restored()
    let before = one.lines.count
    // A timer that was put off leaves its first time behind, at which a tick does nothing. A restored planner has no
    // such times, so both get the ticks of both, as they would from one log.
    for _ in 0..<FuzzPipeline.ticksMax {
      guard let due = [one.nextTick, other.nextTick].compactMap(\.self).min() else { break }
      try one.tick(at: due)
      try other.tick(at: due)
    }
    let kept = Array(one.lines.dropFirst(before))
    let place = kept.indices.first { $0 >= other.lines.count || kept[$0] != other.lines[$0] } ?? kept.count
    let texts = [kept, other.lines].map { lines in
      lines.indices.contains(place) ? String(decoding: lines[place], as: UTF8.self) : "nothing"
    }
    try FuzzFinding.unless(
      kept == other.lines, "a planner that was restored decides otherwise: \(texts[1]) instead of \(texts[0])")
  }
}
