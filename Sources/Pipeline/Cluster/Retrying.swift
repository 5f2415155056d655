import KafkaClient

/// Repeats a call while its error says that the same call may be repeated: a topic that was just made has no leader yet, a
/// coordinator moves. Gives up after `patience`, or 4 s after being asked to stop.
func retrying<Result>(
  for patience: Duration = .seconds(30), clock: any StageClock = SystemClock(), stop: StopSignal? = nil,
  _ call: () throws(KafkaError) -> Result
) throws(KafkaError) -> Result {
  var deadline = clock.elapsed + patience
  var hurried = false
  while true {
    do throws(KafkaError) {
      return try call()
    } catch {
      if !hurried, stop?.isAsked == true {
        hurried = true
        deadline = min(deadline, clock.elapsed + .seconds(4))
      }
      guard error.isRetriable, clock.elapsed < deadline else { throw error }
    }
    clock.sleep(.milliseconds(100))
  }
}
