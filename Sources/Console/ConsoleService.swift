import Auditing
import Domain
import Foundation
import Keys
import Logging
import Observing
import Serving

/// The console: answers questions over HTTP, and serves the pages for people. May be used from any thread.
///
///     head ──► origin ──► route ──► key or session ──► role ──► rate ──► body ──► token ──► reader ──► answer
///               403      404,405     401, sign-in       403     429      413       403      400,503
///
/// Everything before the reader happens on the server's event loops and does not block.
final class ConsoleService: HTTPService {
  private let settings: ConsoleSettings
  private let access: Authenticator?
  private let sessions: ConsoleSessions
  private let readers: StoreReaders
  private let cluster: StoreReaders
  private let changes: StoreReaders
  private let refusals: RefusedAttempts
  private let outside: StoreReaders
  private let metrics: ConsoleMetrics
  private let now: @Sendable () -> Timestamp

  /// The time for which a refused sign-in waits.
  private static let refusalDelay = DispatchTimeInterval.seconds(1)

  /// Makes the service.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - access: The keys and tokens; nil if everybody who reaches the console may do everything.
  ///   - sessions: The people who have signed in.
  ///   - readers: The threads that answer from the store.
  ///   - cluster: The threads that answer from the cluster.
  ///   - changes: The thread that makes changes to the cluster, one at a time.
  ///   - outside: The thread that answers requests without a key or token, such as the sign-in. It has a queue of its own, so that whoever has no key
  ///     cannot make those wait who have one.
  ///   - refusals: Gets the attempts that are refused.
  ///   - metrics: The metrics.
  ///   - now: The wall clock.
  init(
    _ settings: ConsoleSettings, access: Authenticator?, _ sessions: ConsoleSessions, _ readers: StoreReaders,
    _ cluster: StoreReaders, _ changes: StoreReaders, _ outside: StoreReaders, _ refusals: RefusedAttempts,
    _ metrics: ConsoleMetrics,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.settings = settings
    self.access = access
    self.sessions = sessions
    self.readers = readers
    self.cluster = cluster
    self.changes = changes
    self.outside = outside
    self.refusals = refusals
    self.metrics = metrics
    self.now = now
  }

  /// Looks at the head of a request.
  func admit(_ head: HTTPHead) -> HTTPAdmission {
    var name: String?
    do throws(Problem) {
      do throws(Problem) { try RequestOrigin.check(head, isOpen: access == nil) } catch {
        note(.otherSite, head, "none", error)
        throw error
      }
      let (route, places) = try ConsoleRoute.find(method: head.method, path: head.path)
      name = route.name
      let viewer = try viewer(head, of: route)
      let query = try RequestQuery(head.query)
      return .taken { [self] body, answer in
        let request = ConsoleRequest(head: head, places: places, query: query, body: body, viewer: viewer)
        take(request, route, answer)
      }
    } catch {
      metrics.requests.add(1, [name ?? "none", "\(error.kind.status)"])
      return .refused(ProblemPage.answer(to: error, head, sessions))
    }
  }

  /// Returns the answer to a request that the server cannot take: a page where a browser asked for one.
  func answer(to fault: HTTPFault, of head: HTTPHead?) -> HTTPAnswer {
    let problem = Problem(fault, settings.limits)
    metrics.requests.add(1, ["none", "\(problem.kind.status)"])
    return head.map { ProblemPage.answer(to: problem, $0, sessions) } ?? problem.answer
  }

  /// Returns the one who asks.
  private func viewer(_ head: HTTPHead, of route: ConsoleRoute) throws(Problem) -> Viewer {
    guard let access else {
      var viewer = Viewer.anybody
      viewer.formToken = sessions.openToken
      return viewer
    }
    guard let role = route.role else { return Viewer(key: nil, roles: []) }
    let session = head.header("authorization") == nil ? sessions.find(cookies: head.header("cookie"), now: now()) : nil
    let principal: Principal
    if let session {
      principal = session.principal
    } else {
      do throws(CredentialRefusal) {
        principal = try access.principal(authorization: head.header("authorization"), now: now())
      } catch {
        note(error, head, route)
        throw error.problem
      }
    }
    let viewer = Viewer(
      key: principal.name, roles: principal.roles, formToken: session?.formToken, isSignedIn: session != nil)
    guard viewer.may(role) else {
      let problem = principal.refusal(needing: role)
      note(.missingRole, head, route.name, problem, key: principal.name)
      throw problem
    }
    if let seconds = principal.bucket?.secondsUntilAdmitted() {
      throw Problem(
        .tooManyRecords, "the \(principal.credential) has asked more than it may; try again in \(seconds) s",
        retryAfterSeconds: seconds)
    }
    principal.bucket?.take(1)
    return viewer
  }

  /// Notes a request without a key or token that works. A browser without a session is only sent to the sign-in, so it is not noted.
  private func note(_ refusal: CredentialRefusal, _ head: HTTPHead, _ route: ConsoleRoute) {
    let isWithout = head.header("authorization") == nil
    if isWithout, ConsoleSessions.isSent(cookies: head.header("cookie")) {
      note(.endedSession, head, route.name, refusal.problem)
    } else if !isWithout || !route.isPage {
      note(RefusalCause(refusal.cause), head, route.name, refusal.problem, key: refusal.name)
    }
  }

  private func note(
    _ cause: RefusalCause, _ head: HTTPHead, _ operation: String, _ problem: Problem, key: String? = nil
  ) {
    refusals.note(
      cause, key: key, operation: operation, status: problem.kind.status, client: head.remote, at: now())
  }

  private func take(
    _ request: ConsoleRequest, _ route: ConsoleRoute, _ answer: @escaping @Sendable (HTTPAnswer) -> Void
  ) {
    let began = ContinuousClock.now
    let reply: @Sendable (HTTPAnswer) -> Void = { [metrics] reply in
      metrics.requests.add(1, [route.name, "\(reply.status)"])
      metrics.seconds.observe((.now - began) / .seconds(1))
      guard route.slowsRefusals, reply.status >= 400 else { return answer(reply) }
      DispatchQueue.global().asyncAfter(deadline: .now() + Self.refusalDelay) { answer(reply) }
    }
    do throws(Problem) {
      do throws(Problem) { try RequestOrigin.checkToken(request, of: route) } catch {
        guard error.kind == .staleForm else { throw error }
        note(.wrongFormToken, request.head, route.name, error, key: request.viewer.key)
        return reply(ProblemPage.answer(to: error, request, sessions))
      }
      let threads = threads(of: route)
      let client = request.viewer.key ?? request.head.remote ?? ""
      try threads.submit(of: client) { [sessions] context in
        context.begin(request)
        let answer = Self.answer(request, route, context, sessions)
        reply(
          context.access.record(request, route, of: context, answer) {
            ProblemPage.answer(to: $0, request.head, sessions, request.viewer)
          })
      }
    } catch {
      reply(ProblemPage.answer(to: error, request.head, sessions, request.viewer))
    }
  }

  /// Returns the threads that answer the requests of a route.
  private func threads(of route: ConsoleRoute) -> StoreReaders {
    if route.role == nil { return outside }
    guard route.usesCluster else { return readers }
    return route.role == .operator ? changes : cluster
  }

  private static func answer(
    _ request: ConsoleRequest, _ route: ConsoleRoute, _ context: ConsoleContext, _ sessions: ConsoleSessions
  ) -> HTTPAnswer {
    do {
      return try route.answer(request, context)
    } catch let problem as Problem {
      return ProblemPage.answer(to: problem, request.head, sessions, request.viewer)
    } catch {
      context.closeStore()
      context.logger.warning("a question failed", metadata: ["operation": "\(route.name)", "error": "\(error)"])
      let problem = Problem(.unavailable, "the question could not be answered: \(error)", retryAfterSeconds: 5)
      return ProblemPage.answer(to: problem, request.head, sessions, request.viewer)
    }
  }
}

/// Tells requests of the console's own pages, and of programs, apart from those that another site makes a browser send.
enum RequestOrigin {
  /// Refuses a request that a browser sends for another site.
  ///
  /// A browser that names its page's origin in `Origin` names the host as people know it. A proxy that puts another one into `Host` hides that
  /// it is the same. Over TLS and to `localhost`, browsers also compare the two themselves and say so in `Sec-Fetch-Site`, which no script can set.
  ///
  /// - Parameters:
  ///   - head: The head of the request.
  ///   - isOpen: Whether the console asks for no key. Then the name of its host must be one of this machine: another site may have
  ///     given its own name the address of this machine.
  /// - Throws: `Problem` that says so.
  static func check(_ head: HTTPHead, isOpen: Bool) throws(Problem) {
    if isOpen { try head.requireOwnHost() }
    let host = head.header("host")?.lowercased() ?? ""
    guard head.method != "GET", head.method != "HEAD", let origin = head.header("origin")?.lowercased() else { return }
    guard
      origin == "http://\(host)" || origin == "https://\(host)" || head.header("sec-fetch-site") == "same-origin"
    else {
      throw Problem(
        .forbidden,
        "the request comes from a page of another site, or through a proxy that does not hand on the header Host")
    }
  }

  /// Refuses a form of a page without the token of the session.
  ///
  /// - Throws: `Problem` that says what to do.
  static func checkToken(_ request: ConsoleRequest, of route: ConsoleRoute) throws(Problem) {
    let changes = route.method != "GET"
    guard changes, let token = request.viewer.formToken, route.isPage || request.viewer.isSignedIn else { return }
    guard route.role != nil else { return }
    var sent = request.head.header("x-form-token")
    if sent == nil, route.isPage { sent = try request.form()[ConsoleSessions.tokenField] }
    guard sent == token else {
      throw Problem(
        .staleForm,
        "the form comes from a page that was loaded before the console started anew, or before you signed in, so nothing was done; load that page anew, and send the form again"
      )
    }
  }
}
