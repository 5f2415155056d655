import Auditing
import Keys
import Serving

/// The page on which people give a key or a token.
enum SignInPage {
  static let path = "/sign-in"

  /// Returns the page.
  ///
  /// - Parameters:
  ///   - next: The address to go to afterwards.
  ///   - access: The keys and tokens that the console takes; nil if it asks for none.
  ///   - problem: The reason why the last attempt failed; nil for the first one.
  static func answer(next: String, _ access: Authenticator?, problem: Problem? = nil) -> HTTPAnswer {
    let (takesKeys, takesTokens) = (access?.takesKeys ?? true, access?.takesTokens ?? false)
    let words = takesKeys ? takesTokens ? "key or token" : "key" : "token"
    let hints = [
      takesKeys ? "A key begins with rouse_ and has the role auditor or operator. rouse keys create makes one." : nil,
      takesTokens ? "A token is a JSON Web Token of the issuer whose roles are among these." : nil,
    ]
    var section = PageSection(heading: "Your \(words)")
    if let problem { section.paragraphs = [[PageCell("Not signed in: \(problem.detail).", tone: .bad)]] }
    section.forms = [
      PageForm(
        action: path,
        fields: [
          .init(
            name: "key", label: words.prefix(1).uppercased() + words.dropFirst(), sort: .password,
            hint: hints.compactMap(\.self).joined(separator: " "), isNeeded: true),
          .init(name: "next", label: "", sort: .hidden, value: next),
        ], button: "Sign in", isPosted: true)
    ]
    let page = ConsolePage(
      title: "Sign in", lead: ["This console shows what was decided about each device, so it asks for a \(words)."],
      sections: [section], status: problem?.kind.status ?? 200, isOutside: true)
    return page.answer(Viewer(key: nil, roles: []))
  }

  /// Signs somebody in.
  static func signIn(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    let form = try request.form()
    let next = safe(form["next"])
    let secret = (form["key"] ?? "").filter { !$0.isWhitespace }
    do throws(SignInRefusal) {
      let cookie = try context.sessions.open(secret: secret, now: context.now())
      var answer = redirect(to: next)
      answer.headers.append(ConsoleSessions.setCookie(cookie, isSecure: context.settings.hasSecureCookies))
      return answer
    } catch {
      if let cause = error.cause {
        context.refusals.note(
          cause, key: error.key, operation: "signIn", status: error.problem.kind.status, client: request.head.remote,
          at: context.now())
      }
      return Self.answer(next: next, context.sessions.access, problem: error.problem)
    }
  }

  /// Signs somebody out.
  static func signOut(_ request: ConsoleRequest, _ context: ConsoleContext) throws -> HTTPAnswer {
    context.sessions.close(cookies: request.head.header("cookie"))
    var answer = redirect(to: path)
    answer.headers.append(ConsoleSessions.setCookie(nil, isSecure: context.settings.hasSecureCookies))
    return answer
  }

  /// Returns an answer that sends the browser to another page by `GET`.
  static func redirect(to address: String) -> HTTPAnswer {
    HTTPAnswer(
      status: 303, contentType: "text/plain; charset=utf-8", headers: PageHeaders.page + [("location", address)],
      body: Array("see \(address)\n".utf8))
  }

  /// The longest address to go to after a sign-in, in bytes. In the address of the sign-in itself it is escaped once more.
  /// - Beyond: the sign-in leads to the first page.
  static let addressBytesMax = 2048

  /// Returns an address of this console; any other becomes the first page.
  static func safe(_ address: String?) -> String {
    guard let address, address.utf8.count <= addressBytesMax, address.hasPrefix("/"), !address.hasPrefix("//"),
      address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") })
    else { return "/" }
    return address
  }
}
