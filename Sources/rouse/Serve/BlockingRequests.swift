import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends HTTP requests, each with a time limit, while the calling thread waits for the answer. May be used from any thread.
///
/// Redirections are not followed: header fields with keys go to the address that was named, and nowhere else.
final class BlockingRequests: Sendable {
  /// The answer to a request.
  struct RequestAnswer: Sendable {
    /// The status of HTTP, such as 200.
    var status: Int
    var body: [UInt8]
  }

  private let session: URLSession
  private let answers: PendingAnswers
  private let timeLimit: TimeInterval

  /// Opens no connection yet.
  ///
  /// - Parameters:
  ///   - timeLimit: The longest time of a request with its answer, in seconds.
  ///   - bodyBytesMax: The bytes of an answer that are taken. The status of a process with 1,000 partitions has fewer than the default.
  init(timeLimit: TimeInterval, bodyBytesMax: Int = 4 << 20) {
    self.timeLimit = timeLimit
    answers = PendingAnswers(bodyBytesMax: bodyBytesMax)
    let configuration = URLSessionConfiguration.ephemeral
    // The wait of `send` is the limit; the session counts in whole seconds.
    configuration.timeoutIntervalForRequest = timeLimit.rounded(.up) + 1
    configuration.timeoutIntervalForResource = timeLimit.rounded(.up) + 1
    session = URLSession(configuration: configuration, delegate: answers, delegateQueue: nil)
  }

  deinit { session.invalidateAndCancel() }

  /// Sends a request, and waits for its answer.
  ///
  /// - Returns: The answer, whatever its status is.
  /// - Throws: ``Failure`` when there is no connection, no answer within the time limit, or one that is too long. Its text has neither the
  ///   address nor a header field.
  func send(_ request: URLRequest) throws(Failure) -> RequestAnswer {
    let task = session.dataTask(with: request)
    let pending = answers.expect(task.taskIdentifier)
    defer { answers.forget(task.taskIdentifier) }
    task.resume()
    if pending.given.wait(timeout: .now() + timeLimit) == .timedOut {
      task.cancel()
      let seconds = timeLimit == timeLimit.rounded() ? "\(Int(timeLimit))" : "\(timeLimit)"
      throw Failure("no answer within \(seconds) s")
    }
    if let problem = pending.state.withLock({ $0.problem }) { throw Failure(problem) }
    return pending.state.withLock { RequestAnswer(status: $0.status, body: $0.body) }
  }

  /// A request that waits for its answer.
  private final class PendingAnswer: Sendable {
    struct State {
      var status = 0
      var body: [UInt8] = []
      /// The reason why there is no answer.
      var problem: String?
    }

    let state = Mutex(State())
    let given = DispatchSemaphore(value: 0)
  }

  /// The requests that wait, by the identifier of their task. The session calls it on a thread of its own.
  private final class PendingAnswers: NSObject, URLSessionDataDelegate, Sendable {
    private let bodyBytesMax: Int
    private let pending = Mutex<[Int: PendingAnswer]>([:])

    init(bodyBytesMax: Int) { self.bodyBytesMax = bodyBytesMax }

    func expect(_ task: Int) -> PendingAnswer {
      let answer = PendingAnswer()
      pending.withLock { $0[task] = answer }
      return answer
    }

    func forget(_ task: Int) { pending.withLock { $0[task] = nil } }

    private func answer(_ task: URLSessionTask) -> PendingAnswer? {
      pending.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      let isTooLong = answer(dataTask)?.state.withLock { state in
        guard state.body.count + data.count <= bodyBytesMax else {
          state.problem = "the answer has more than \(bodyBytesMax) bytes"
          return true
        }
        state.body += data
        return false
      }
      if isTooLong == true { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
      guard let answer = answer(task) else { return }
      answer.state.withLock { state in
        state.status = status
        state.problem = state.problem ?? error?.localizedDescription
      }
      answer.given.signal()
    }
  }
}
