import Foundation
import RouseClient
import Serving
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("The transport") struct TransportTests {
  /// Sends every request elsewhere.
  private struct MovedService: HTTPService {
    func admit(_ head: HTTPHead) -> HTTPAdmission {
      var answer = HTTPAnswer(status: 302, contentType: "text/plain", body: [])
      answer.headers.append(("Location", "/elsewhere"))
      return .refused(answer)
    }

    func answer(to fault: HTTPFault, of head: HTTPHead?) -> HTTPAnswer {
      HTTPAnswer(status: 400, contentType: "text/plain", body: Array("\(fault)".utf8))
    }
  }

  @Test("no redirection is followed")
  func redirection() async throws {
    let server = try await HTTPServer.start(HTTPAddress(host: "127.0.0.1", port: 0), MovedService())
    var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(server.address.port)/moved")))
    request.httpMethod = "POST"
    let (_, response) = try await URLSessionTransport().answer(to: request)
    #expect(response.statusCode == 302)
    await server.stop()
  }
}
