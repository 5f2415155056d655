import Keys
import Serving
import Testing

@testable import Console

@Suite("Routes of the console") struct RouteTests {
  @Test("a path is found by its steps, and what is none is told apart from a wrong method")
  func find() throws {
    let (route, places) = try ConsoleRoute.find(method: "GET", path: "/v1/summary")
    #expect(route.name == "getSummary" && places.isEmpty)
    #expect(try ConsoleRoute.find(method: "HEAD", path: "/v1/summary").route.name == "getSummary")
    let wrong = #expect(throws: Problem.self) { try ConsoleRoute.find(method: "POST", path: "/v1/summary") }
    #expect(wrong?.kind == .methodNotAllowed && wrong?.allowedMethods == ["GET", "HEAD"])
    let none = #expect(throws: Problem.self) { try ConsoleRoute.find(method: "GET", path: "/v1/summary/") }
    #expect(none?.kind == .notFound)
  }

  @Test("each operation has a name of its own")
  func names() {
    #expect(Set(ConsoleRoute.all.map(\.name)).count == ConsoleRoute.all.count)
  }

  @Test("a query is decoded, and refused if it is none")
  func query() throws {
    let query = try RequestQuery("from=a%2Bb+c&empty=&from=2&flag")
    #expect(query["from"] == "a+b c" && query["empty"] == nil && query["flag"] == nil && query["none"] == nil)
    #expect(query.items.map(\.name) == ["from", "empty", "from", "flag"])
    #expect(throws: Problem.self) { try RequestQuery("a=%FF%") }
    #expect(throws: Problem.self) { try RequestQuery(String(repeating: "a=1&", count: RequestQuery.itemsMax + 1)) }
    #expect(try RequestQuery(nil).items.isEmpty)
  }

  @Test("whoever may change things may also ask")
  func roles() {
    #expect(Viewer(key: "k", roles: [.operator]).may(.auditor))
    #expect(!Viewer(key: "k", roles: [.auditor]).may(.operator))
    #expect(!Viewer(key: "k", roles: [.publisher]).may(.auditor))
    #expect(KeyRole.allCases.allSatisfy(Viewer.anybody.may))
  }
}
