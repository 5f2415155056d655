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
      if head.method == "POST", formsWithText[step] != nil { return sessionEnded(problem) }
      let address = ["GET", "HEAD"].contains(head.method) ? head.path + (head.query.map { "?\($0)" } ?? "") : "/"
      return SignInPage.redirect(to: PageLink.to(SignInPage.path, ["next": address == "/" ? nil : address]))
    }
    var section = PageSection(heading: "What happened")
    section.paragraphs = [[PageCell(sentence(of: problem))]]
    section.list = problem.mistakes.map { [PageCell($0.detail)] }
    section.paragraphs.append([PageCell("To the overview", link: "/")])
    return page(of: problem, [section] + sections, viewer, isOutside: viewer == nil && sessions.areNeeded)
  }

  private static func page(
    of problem: Problem, _ sections: [PageSection], _ viewer: Viewer?, isOutside: Bool
  ) -> HTTPAnswer {
    var page = ConsolePage(title: problem.kind.title, sections: sections, status: problem.kind.status)
    page.isOutside = isOutside
    var answer = page.answer(viewer ?? Viewer(key: nil, roles: []))
    answer.headers += problem.answer.headers.filter { $0.name.lowercased() != "cache-control" }
    return answer
  }

  /// The forms that are shown again with what was typed into them when they are refused, by the first step of their path: those with much
  /// text, which change nothing by themselves.
  private static let formsWithText: [Substring: @Sendable (RequestQuery) -> PageSection] = [
    "policy": { PolicyPage.form($0["policy"] ?? "") },
    "try": { TryPage.form($0["event"] ?? "", $0["policy"] ?? "") },
  ]

  /// Returns the answer to a form with much text that is sent without a session. The browser still has what was typed, and
  /// sends it again when the page is loaded anew; a sign-in in its place would lose it.
  private static func sessionEnded(_ problem: Problem) -> HTTPAnswer {
    let section = PageSection(
      heading: "Your session has ended",
      paragraphs: [
        ["Nothing was changed, and what you typed is not lost."],
        [
          PageCell("Sign in", link: SignInPage.path),
          " in another tab. Then come back to this one and load it anew: the browser sends the form again, and you can look at it once more before you press its button.",
        ],
      ])
    return page(of: problem, [section], nil, isOutside: true)
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
      let form = formsWithText[request.head.path.split(separator: "/").first ?? ""]
      sections = form.map { [$0(fields)] } ?? []
    } catch {
      sections = [PageSection(heading: "The form itself", paragraphs: [[PageCell(sentence(of: error))]])]
    }
    return answer(to: problem, request.head, sessions, request.viewer, sections: sections)
  }
}
