import Foundation
import KafkaClient

/// Repeats a call while its error says that the same call may be repeated: a topic that was just made has no leader yet, a
/// coordinator moves. Gives up after `patience`, or 4 s after being asked to stop.
func retrying<Result>(
  for patience: Duration = .seconds(30), stop: StopSignal? = nil, _ call: () throws(KafkaError) -> Result
) throws(KafkaError) -> Result {
  var deadline = ContinuousClock.now + patience
  var hurried = false
  while true {
    do throws(KafkaError) {
      return try call()
    } catch {
      if !hurried, stop?.isAsked == true {
        hurried = true
        deadline = min(deadline, .now + .seconds(4))
      }
      guard error.isRetriable, ContinuousClock.now < deadline else { throw error }
    }
    Thread.sleep(forTimeInterval: 0.1)
  }
}
