import Domain
import Installation
import Observing
import Planning

extension PlannerWorker {
  /// Runs the next slice of a sweep if it is time for one.
  func sweepOn() {
    let began = clock.elapsed
    guard let interval = settings.planner.sweepInterval, sweeps.isDue(at: began) else { return }
    defer { sweeps.rest(from: began, to: clock.elapsed) }
    let due = partitions.processors.filter { $0.sweep.due <= began }
    guard let chosen = sweeps.choose(among: due.map(\.partition)),
      let processor = due.first(where: { $0.partition == chosen })
    else { return }
    let wall = settings.timestamps == .arrival ? clock.wallMicroseconds : nil
    guard let figures = processor.sweepOn(at: wall, now: began, interval: interval) else { return }
    for kind in figures.kinds where kind.wrong > 0 {
      counters.screens.wrongAge.add(buckets: kind.ages, sum: kind.ageSum, [kind.name.text])
    }
  }
}
