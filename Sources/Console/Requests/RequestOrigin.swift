import Serving

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
