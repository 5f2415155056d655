import Domain
import Foundation
import HTTPTesting
import InMemoryLogging
import Logging
import Observing
import Serving
import Synchronization
import Testing

@testable import Keys

/// An issuer at an address that counts the questions.
private final class AskedIssuer: Sendable {
  private struct State {
    var answer: Result<[UInt8], IssuerKeysError>
    var count = 0
  }

  private let state: Mutex<State>

  init(_ answer: Result<[UInt8], IssuerKeysError>) { state = Mutex(State(answer: answer)) }

  var count: Int { state.withLock(\.count) }

  func set(_ answer: Result<[UInt8], IssuerKeysError>) { state.withLock { $0.answer = answer } }

  var place: IssuerKeys.KeyOrigin {
    .address("https://issuer.example/keys") { [self] () throws(IssuerKeysError) in
      try state.withLock { (state) -> Result<[UInt8], IssuerKeysError> in
        state.count += 1
        return state.answer
      }.get()
    }
  }
}

@Suite("Keys of an issuer") struct IssuerKeysTests {
  private let start = ContinuousClock.now
  private let handler = InMemoryLogHandler()

  private func keys(_ issuer: AskedIssuer) -> IssuerKeys {
    IssuerKeys(
      issuer.place, metrics: TokenMetrics(MetricRegistry()), logger: Logger(label: "test") { _ in handler })
  }

  private func bytes(_ issuers: TestIssuer...) throws -> [UInt8] {
    Array(#"{"keys":[\#(try issuers.map { try $0.key() }.joined(separator: ","))]}"#.utf8)
  }

  private var messages: [String] { handler.entries.map { "\($0.level): \($0.message)" } }

  @Test("it starts while the issuer is away, takes the keys when it is there, and keeps them when it is away again")
  func away() throws {
    let issuer = AskedIssuer(.failure(IssuerKeysError("no answer")))
    let keys = keys(issuer)
    let key = try TestIssuer()
    keys.refresh(at: start, wallClock: Issued.now)
    #expect(keys.set == nil && keys.status == IssuerKeys.Status(keysCount: 0, readAt: nil, fault: "no answer"))
    let verifier = try TokenVerifier(
      TokenSettings(issuer: TestIssuer.name, audience: TestIssuer.audience), keys: keys,
      metrics: TokenMetrics(MetricRegistry()), logger: Issued.silent)
    let refusal = #expect(throws: TokenRefusal.self) { try verifier.verify(key.token(Issued.claims()), at: Issued.now) }
    #expect(refusal == .keysMissing)
    #expect(refusal.map { CredentialRefusal($0).problem.kind } == .unavailable)
    // An issuer that is away is asked every 30 seconds.
    for seconds in 1..<30 { keys.refresh(at: start + .seconds(seconds), wallClock: Issued.now) }
    #expect(issuer.count == 1)
    issuer.set(.success(try bytes(key)))
    keys.refresh(at: start + .seconds(30), wallClock: Issued.now)
    #expect(issuer.count == 2 && keys.status == IssuerKeys.Status(keysCount: 1, readAt: Issued.now, fault: nil))
    #expect(throws: Never.self) { try verifier.verify(key.token(Issued.claims()), at: Issued.now) }
    for answer in [.failure(IssuerKeysError("gone")), .success(Array("<html>".utf8))]
      as [Result<[UInt8], IssuerKeysError>]
    {
      issuer.set(answer)
      let count = issuer.count
      keys.refresh(at: start + .seconds(400 * count), wallClock: Issued.now + .hours(1))
      #expect(issuer.count == count + 1 && keys.status.fault != nil)
      #expect(keys.status.keysCount == 1 && keys.status.readAt == Issued.now)
    }
    #expect(throws: Never.self) { try verifier.verify(key.token(Issued.claims("bob")), at: Issued.now) }
    #expect(messages.count { $0.hasPrefix("warning: the keys of the issuer cannot be read") } == 2)
    #expect(messages.contains("info: the keys of the issuer can be read again"))
  }

  @Test("an address is asked every five or six minutes, and keys that are the same stay")
  func interval() throws {
    let issuer = AskedIssuer(.success(try bytes(TestIssuer())))
    let keys = keys(issuer)
    var asked: [Int] = []
    for second in 0...2000 {
      let count = issuer.count
      keys.refresh(at: start + .seconds(second), wallClock: Issued.now)
      if issuer.count > count { asked.append(second) }
    }
    #expect(asked.first == 0 && (6...7).contains(asked.count))
    #expect(zip(asked, asked.dropFirst()).allSatisfy { (300...361).contains($1 - $0) }, "\(asked)")
    #expect(messages == ["info: the keys of the issuer are in force"])
  }

  @Test("many tokens with an unknown key have the address asked once in 30 seconds")
  func unknown() throws {
    let (old, new) = (try TestIssuer(keyID: "old"), try TestIssuer(keyID: "new"))
    let issuer = AskedIssuer(.success(try bytes(old)))
    let keys = keys(issuer)
    let verifier = try TokenVerifier(
      TokenSettings(issuer: TestIssuer.name, audience: TestIssuer.audience), keys: keys,
      metrics: TokenMetrics(MetricRegistry()), logger: Issued.silent)
    func refresh(_ second: Int) { verifier.refresh(at: start + .seconds(second), wallClock: Issued.now) }
    func refusal(_ token: String) -> TokenRefusal? {
      do throws(TokenRefusal) { _ = try verifier.verify(token, at: Issued.now) } catch { return error }
      return nil
    }
    refresh(0)
    let token = try new.token(Issued.claims())
    for second in 1..<30 {
      #expect(refusal(token) == .unknownKey)
      refresh(second)
    }
    #expect(issuer.count == 1)
    issuer.set(.success(try bytes(old, new)))
    refresh(30)
    #expect(issuer.count == 2 && refusal(token) == nil)
    for second in 31..<200 {
      if second < 40 { #expect(refusal(try TestIssuer(keyID: "none").token(Issued.claims())) == .unknownKey) }
      refresh(second)
    }
    #expect(issuer.count == 3)
  }

  @Test("a key set without a usable key is in force, and says so")
  func empty() throws {
    let issuer = AskedIssuer(.success(try bytes(TestIssuer())))
    let keys = keys(issuer)
    keys.refresh(at: start, wallClock: Issued.now)
    issuer.set(.success(Array(#"{"keys":[]}"#.utf8)))
    keys.refresh(at: start + .seconds(400), wallClock: Issued.now)
    #expect(keys.set?.keys.isEmpty == true && keys.status.keysCount == 0)
    #expect(messages.last == "warning: the issuer has no key that can check a signature, so no token is accepted")
  }
}
