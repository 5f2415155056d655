import Serving
import Synchronization

/// Answers with the body, and holds answers back on demand.
final class EchoService: HTTPService {
  private let held = Mutex<[@Sendable (HTTPAnswer) -> Void]>([])

  func admit(_ head: HTTPHead) -> HTTPAdmission {
    switch head.path {
    case "/unchanged": return .taken { _, answer in answer(Self.answer(304, "")) }
    case "/refused": return .refused(Self.answer(403, "refused"))
    case "/cookie":
      return .taken { _, answer in
        answer(Self.answer(200, "\(head.header("host") ?? "") \(head.header("cookie") ?? "")"))
      }
    case "/stream": return .taken { _, answer in answer(Self.stream(pieces: 3)) }
    case "/endless": return .taken { _, answer in answer(Self.stream(pieces: .max)) }
    case "/held": return .taken { [self] _, answer in held.withLock { $0.append(answer) } }
    default: return .taken { body, answer in answer(HTTPAnswer(status: 200, contentType: "text/plain", body: body)) }
    }
  }

  func answer(to fault: HTTPFault, of head: HTTPHead?) -> HTTPAnswer {
    Self.answer(500 + (HTTPFault.allCases.firstIndex(of: fault) ?? 9), "\(fault)")
  }

  var heldCount: Int { held.withLock { $0.count } }

  func release() {
    let answers = held.withLock { held in
      defer { held = [] }
      return held
    }
    for answer in answers { answer(Self.answer(200, "held")) }
  }

  private static func answer(_ status: Int, _ text: String) -> HTTPAnswer {
    HTTPAnswer(status: status, contentType: "text/plain", body: Array(text.utf8))
  }

  /// An answer that is made while it is sent.
  private static func stream(pieces: Int) -> HTTPAnswer {
    let left = Mutex(pieces)
    let stream = HTTPBodyStream { take in
      let isEnd = left.withLock { left in
        left -= 1
        return left < 0
      }
      take(isEnd ? .end : .bytes(Array(repeating: 0x61, count: 4096)))
    } cancel: {
    }
    return HTTPAnswer(status: 200, contentType: "text/plain", stream: stream)
  }
}
