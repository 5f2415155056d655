import Domain
import Testing

@testable import Planning

/// Runs the corpus of decisions (`Corpus/README.md`).
@Suite struct CorpusTests {
  @Test("a story's records lead to the expected decisions", arguments: CorpusCase.all)
  func decides(_ story: CorpusCase) throws {
    var run = try CorpusRun(try story.read())
    try run.play()
    for difference in run.differences { Issue.record("Corpus/\(story.name).yaml, \(difference)") }
  }

  @Test("a planner that is restored from its state before every record decides the same", arguments: CorpusCase.all)
  func restarts(_ story: CorpusCase) throws {
    var run = try CorpusRun(try story.read(), restarts: true)
    try run.play()
    for difference in run.differences { Issue.record("Corpus/\(story.name).yaml restarted, \(difference)") }
  }

  @Test("the corpus has a case for every reason and every surface")
  func covers() throws {
    var reasons: Set<Reason> = []
    var surfaces: Set<Surface> = []
    for story in CorpusCase.all {
      var run = try CorpusRun(try story.read())
      try run.play()
      reasons.formUnion(run.reasons)
      surfaces.formUnion(run.surfaces)
    }
    #expect(CorpusCase.all.count >= 80)
    #expect(Reason.allCases.filter { !reasons.contains($0) } == [])
    #expect(Surface.allCases.filter { !surfaces.contains($0) } == [])
  }
}
