import Domain
import Testing

@testable import Console

@Suite("Texts on pages") struct PageTextTests {
  @Test(
    "no text from outside becomes markup, also not with characters that join the one before",
    arguments: [
      "<script>alert(1)</script>", "\" onmouseover=alert(1) x=\"", "\"\u{301} onmouseover=alert(1)", "<\u{338}script>",
      "\u{600}\" onclick=x", "'\u{20dd}'", "&\u{fe0f}lt;", "{{title}}{{{title}}}",
    ])
  func hostile(text: String) {
    let page = PageTemplates.render("words", PageValues(["text": .text(text), "href": .text(text)]))
    let inner = page.dropFirst("<a href=\"".count).dropLast("</a>".count)
    #expect(page.hasPrefix("<a href=\"") && page.hasSuffix("</a>"))
    // The one quotation mark and the one sign are those of the template.
    #expect(inner.unicodeScalars.filter { $0 == "\"" }.count == 1)
    #expect(inner.unicodeScalars.filter { $0 == "<" }.isEmpty && inner.unicodeScalars.filter { $0 == ">" }.count == 1)
    #expect(!PageText.escaped(text).unicodeScalars.contains { ["<", ">", "\"", "'"].contains($0) })
  }

  @Test("characters that nobody sees, or that reorder others, are named")
  func unseen() {
    #expect(PageText.safe("a\u{202e}b\u{200b}c\n\td") == "a\\u{202e}b\\u{200b}c\n\td")
    #expect(PageText.safe("שלום é 👩🏽") == "שלום é 👩🏽")
  }

  @Test("a template can ask whether a name has a value, and lists without elements have none")
  func names() {
    let values = PageValues(["title": "x", "rows": .list([]), "cells": .list([PageValues()]), "none": nil])
    #expect(values.child(named: "hasTitle") as? Bool == true && values.child(named: "hasRows") as? Bool == false)
    #expect(values.child(named: "hasCells") as? Bool == true && values.child(named: "hasNone") as? Bool == false)
    #expect(values.child(named: "hash") == nil)
  }

  @Test("an offset is read as a query has it, and written back", arguments: ["-04:00", "+05:30", " 05:30", "+14:00"])
  func offsets(text: String) throws {
    let time = try #require(PageTime(offset: text))
    #expect(time.query == text.replacing(" ", with: "+"))
  }

  @Test(
    "a text that is no offset is refused",
    arguments: ["", "5", "+5:30", "-04:60", "+15:00", "04:00", "--4:00", "+1 :00"])
  func noOffsets(text: String) { #expect(PageTime(offset: text) == nil) }

  @Test("a time is read at its offset")
  func times() throws {
    let time = try #require(PageTime(offset: "-04:00"))
    let at = try #require(time.read("2013-03-08 21:05"))
    #expect("\(at)" == "2013-03-09T01:05:00Z" && time.text(at) == "2013-03-08 21:05:00" && time.clock(at) == "21:05")
    #expect(time.zone == "UTC-4" && PageTime().read("2013-03-08").map { "\($0)" } == "2013-03-08T00:00:00Z")
    #expect(PageTime().read("yesterday") == nil && PageTime().read("2013-02-30 10:00") == nil)
  }

  @Test("ids that a path cannot hold go into the query")
  func links() {
    #expect(PageLink.device("..") == "/devices?id=.." && PageLink.event("a/b?c") == "/events/a%2Fb%3Fc")
    #expect(PageLink.to("/x", ["a": "é&", "b": nil, "c": "1"]) == "/x?a=%C3%A9%26&c=1")
    #expect(SignInPage.safe("//evil.example") == "/" && SignInPage.safe("/\\evil.example") == "/")
    #expect(SignInPage.safe("/why?device=a%20b") == "/why?device=a%20b" && SignInPage.safe(nil) == "/")
  }
}
