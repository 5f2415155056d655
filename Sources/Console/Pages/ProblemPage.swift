import Serving

/// The page of a refusal.
enum ProblemPage {
  /// Returns what happened as a sentence.
  static func sentence(of problem: Problem) -> String {
    "\(problem.detail.prefix(1).uppercased())\(problem.detail.dropFirst())."
  }

  /// Returns a refusal in the form that the one who asks reads: a page for a browser, and otherwise RFC 9457.
  ///
  /// - Parameters:
  ///   - problem: The refusal.
  ///   - head: The head of the request.
  ///   - sessions: The people who have signed in.
  ///   - viewer: The one who asks; nil if that is not known.
  ///   - sections: Sections behind the explanation.
  static func answer(
    to problem: Problem, _ head: HTTPHead, _ sessions: ConsoleSessions, _ viewer: Viewer? = nil,
    sections: [PageSection] = []
  ) -> HTTPAnswer {
    let step = head.path.split(separator: "/", maxSplits: 1).first ?? ""
    guard ConsoleRoute.isPage(step), step != "assets", head.header("accept")?.contains("text/html") == true else {
      return problem.answer
    }
    if problem.kind == .unauthorized, sessions.areNeeded {
      if head.method == "POST", givesBack(step) { return sessionEnded(problem, sessions) }
      let address = ["GET", "HEAD"].contains(head.method) ? head.path + (head.query.map { "?\($0)" } ?? "") : "/"
      return SignInPage.redirect(to: PageLink.to(SignInPage.path, ["next": address == "/" ? nil : address]))
    }
    var section = PageSection(heading: "What happened")
    section.paragraphs = [[PageCell(sentence(of: problem))]]
    section.list = problem.mistakes.map { [PageCell($0.detail)] }
    section.paragraphs.append([PageCell("To the overview", link: "/")])
    var page = ConsolePage(title: problem.kind.title, sections: [section] + sections, status: problem.kind.status)
    page.isOutside = viewer == nil && sessions.areNeeded
    var answer = page.answer(viewer ?? Viewer(key: nil, roles: []))
    answer.headers += problem.answer.headers.filter { $0.name.lowercased() != "cache-control" }
    return answer
  }

  /// Whether a refused form of a page is shown again with what was typed into it: those with much text, which change nothing by themselves.
  private static func givesBack(_ step: Substring) -> Bool { step == "policy" || step == "try" }

  /// Returns the answer to a form with much text that is sent without a session. The browser still has what was typed, and sends it again when the page is
  /// loaded anew; a sign-in in its place would lose it.
  private static func sessionEnded(_ problem: Problem, _ sessions: ConsoleSessions) -> HTTPAnswer {
    let section = PageSection(
      heading: "Your session has ended",
      paragraphs: [
        ["Nothing was changed, and what you typed is not lost."],
        [
          PageCell("Sign in", link: SignInPage.path),
          " in another tab. Then come back to this one and load it anew: the browser sends the form again, and you can look at it once more before you press its button.",
        ],
      ])
    var page = ConsolePage(title: problem.kind.title, sections: [section], status: problem.kind.status)
    page.isOutside = true
    var answer = page.answer(Viewer(key: nil, roles: []))
    answer.headers += problem.answer.headers.filter { $0.name.lowercased() != "cache-control" }
    return answer
  }

  /// Returns a refusal of a form, with what was typed into it. Only forms that change nothing are shown again, so that another site cannot
  /// have somebody press the button of a change.
  ///
  /// - Parameters:
  ///   - problem: The refusal.
  ///   - request: The request with the form.
  ///   - sessions: The people who have signed in.
  static func answer(to problem: Problem, _ request: ConsoleRequest, _ sessions: ConsoleSessions) -> HTTPAnswer {
    var sections: [PageSection] = []
    do throws(Problem) {
      let fields = try request.form()
      let step = request.head.path.split(separator: "/").first ?? ""
      if givesBack(step) {
        sections = [
          step == "policy"
            ? PolicyPage.form(fields["policy"] ?? "") : TryPage.form(fields["event"] ?? "", fields["policy"] ?? "")
        ]
      }
    } catch {
      sections = [PageSection(heading: "The form itself", paragraphs: [[PageCell(sentence(of: error))]])]
    }
    return answer(to: problem, request.head, sessions, request.viewer, sections: sections)
  }
}
