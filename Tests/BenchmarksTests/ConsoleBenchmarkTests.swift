import Testing

@testable import Benchmarks

@Suite("Pages that the benchmark of the console measures") struct ConsoleBenchmarkTests {
  @Test("links lead to pages of the same host, without the place in the page")
  func links() {
    let page = """
      <a href="/devices/d%2F1?from=1&amp;to=2#timeline">a</a><a href="https://elsewhere.example/">b</a>
      <a href="//elsewhere.example/">c</a><a href="#here">d</a><link href="/console.css">
      """
    #expect(ConsoleBenchmark.links(in: page) == ["/devices/d%2F1?from=1&to=2", "/console.css"])
  }

  @Test(
    "pages are of one sort if they have the first part, the number of parts and the names of the question in common",
    arguments: [
      ("/devices/a", "/devices/b", true), ("/why?device=a&event=b", "/why?event=c&device=d", true),
      ("/devices/a", "/events/a", false), ("/devices", "/devices/a", false), ("/why", "/why?device=a", false),
      ("/", "/decisions", false),
    ])
  func sorts(_ one: String, _ other: String, _ isSame: Bool) {
    #expect((ConsoleBenchmark.sort(of: one) == ConsoleBenchmark.sort(of: other)) == isSame)
  }

  @Test("the reasons are those of the form")
  func reasons() {
    let form = """
      <select id="a" name="verdict"><option value="emit">emit</option></select>
      <select id="b" name="reason"><option value="" selected>any</option><option value="EMITTED">EMITTED</option>
      <option value="EXPIRED" selected>EXPIRED</option></select><select name="x"><option value="y">y</option></select>
      """
    #expect(ConsoleBenchmark.reasons(in: form) == ["EMITTED", "EXPIRED"])
    #expect(ConsoleBenchmark.reasons(in: "<p>") == [])
  }
}
