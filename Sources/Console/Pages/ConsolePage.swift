import Mustache
import Serving

/// A page for people.
struct ConsolePage {
  /// The entries of the navigation.
  enum PageArea: String, CaseIterable {
    case overview = "Overview"
    case decisions = "Decisions"
    case policy = "Policy"
    case deadLetters = "Dead letters"
    case health = "Health"

    var path: String {
      switch self {
      case .overview: "/"
      case .decisions: "/decisions"
      case .policy: "/policy"
      case .deadLetters: "/dead-letters"
      case .health: "/health"
      }
    }
  }

  /// The longest time after which the script asks for a page anew. It does not disturb, so it may ask more often than a page is loaded.
  private static let scriptSecondsMax = 15

  /// The title, which is also the heading.
  var title: String
  /// A line above the heading that says what the page is about; nil for none.
  var topic: String?
  /// The area that the navigation marks; nil for none.
  var area: PageArea?
  /// The id of the form that is sent again for a table as CSV, if the page answers a form; nil if the address of the area is enough.
  var postedForm: String?
  /// The sentence below the heading.
  var lead: [PageCell] = []
  var sections: [PageSection] = []
  /// The status code.
  var status = 200
  /// The content of the search box.
  var search = ""
  /// The seconds after which the page is asked for anew: by the script, which changes what differs and follows a stream instead if there is
  /// one, and without it by the browser; nil for never.
  var refreshSeconds: Int?
  /// The address of a stream of decisions for the script; nil for none.
  var stream: String?
  /// Whether the page is for people who have not signed in, and so has neither navigation nor search.
  var isOutside = false

  /// Returns the page as an answer; one of its tables as CSV if the request names one.
  ///
  /// - Parameter request: The request.
  /// - Throws: `Problem` if the page has no such table, or if too many exports are under way.
  func answer(_ request: ConsoleRequest) throws(Problem) -> HTTPAnswer {
    let isPosted = request.head.method == "POST"
    let wanted = isPosted ? try request.form()[PageTable.nameField] : request.query[PageTable.nameField]
    if let wanted {
      guard let table = sections.lazy.flatMap(\.tables).first(where: { $0.name == wanted }) else {
        throw Problem(.notFound, "this page has no table of that name now; load the page anew")
      }
      return try table.csvAnswer()
    }
    var page = self
    for section in page.sections.indices {
      for table in page.sections[section].tables.indices where page.sections[section].tables[table].csv == nil {
        let name = page.sections[section].tables[table].name
        if isPosted, let postedForm {
          page.sections[section].tables[table].form = postedForm
        } else {
          page.sections[section].tables[table].csv =
            isPosted
            ? PageLink.to(area?.path ?? "/", [PageTable.nameField: name])
            : request.address(with: PageTable.nameField, name)
        }
      }
    }
    return page.answer(request.viewer)
  }

  /// Returns the page as an answer to a request that asks for no table of it.
  ///
  /// - Parameter viewer: The one who asks.
  func answer(_ viewer: Viewer) -> HTTPAnswer {
    let token = viewer.formToken ?? ""
    let values = PageValues([
      "title": .text(title), "topic": topic.map { .text($0) }, "search": .text(search),
      "lead": lead.isEmpty ? nil : .list(lead.map(\.values)),
      "styleSheet": .text(PageAsset.styleSheet.path), "script": .text(PageAsset.script.path),
      "icon": .text(PageAsset.icon.path), "stream": stream.map { .text($0) },
      "refreshSeconds": refreshSeconds.map { .text("\($0)") },
      "scriptSeconds": refreshSeconds.map { .text("\(min($0, Self.scriptSecondsMax))") }, "isInside": .flag(!isOutside),
      "areas": .list(
        isOutside
          ? []
          : PageArea.allCases.map {
            PageValues(["name": .text($0.rawValue), "href": .text($0.path), "isHere": .flag($0 == area)])
          }),
      "key": viewer.isSignedIn ? viewer.key.map { .text($0) } : nil, "token": .text(token),
      "sections": .list(sections.enumerated().map { $1.values($0, token: token) }),
    ])
    return HTTPAnswer(
      status: status, contentType: "text/html; charset=utf-8", headers: PageHeaders.page,
      body: Array(PageTemplates.render("layout", values).utf8))
  }
}

/// The templates of the pages, which are compiled into the program.
enum PageTemplates {
  private static let library: MustacheLibrary = {
    let texts: [(String, [UInt8])] = [
      ("layout", PackageResources.layout_mustache), ("section", PackageResources.section_mustache),
      ("table", PackageResources.table_mustache), ("form", PackageResources.form_mustache),
      ("words", PackageResources.words_mustache), ("node", PackageResources.node_mustache),
    ]
    var library = MustacheLibrary()
    for (name, bytes) in texts {
      do {
        try library.register(String(decoding: bytes, as: UTF8.self), named: name)
      } catch {
        preconditionFailure("the template \(name) is part of the program and must be one: \(error)")
      }
    }
    return library
  }()

  /// Returns the text that a template makes of values.
  ///
  /// - Parameters:
  ///   - name: The name of a template.
  ///   - values: The values.
  static func render(_ name: String, _ values: PageValues) -> String {
    guard let text = library.render(values, withTemplate: name) else {
      preconditionFailure("there is no template \(name)")
    }
    return text
  }
}
