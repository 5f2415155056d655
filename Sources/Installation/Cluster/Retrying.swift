package import KafkaClient

/// Repeats a call as long as its error says that the same call may be repeated: a topic that was just made has no leader yet,
/// a coordinator moves. Waits 100 ms between two calls.
///
/// - Parameters:
///   - patience: The time after which it gives up; at most 4 s once the process is asked to stop.
///   - clock: Measures the time and waits.
///   - stop: Shortens the patience when it is raised; nil to keep the whole patience even then.
///   - call: The call.
/// - Returns: The result of the call.
/// - Throws: The last error of the call.
package func retrying<Result>(
  for patience: Duration = .seconds(30), clock: any StageClock = SystemClock(), stop: StopSignal? = nil,
  _ call: () throws(KafkaError) -> Result
) throws(KafkaError) -> Result {
  var deadline = clock.elapsed + patience
  var isHurried = false
  while true {
    do throws(KafkaError) {
      return try call()
    } catch {
      if !isHurried, stop?.isAsked == true {
        isHurried = true
        deadline = min(deadline, clock.elapsed + .seconds(4))
      }
      guard error.isRetriable, clock.elapsed < deadline else { throw error }
    }
    clock.sleep(.milliseconds(100))
  }
}
