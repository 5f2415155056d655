import Domain
import Testing

@testable import Policies

/// The examples of `schemas/examples/policy`. The expected problems of each are in a file with its name.
@Suite struct PolicyExampleTests {
  private static let folder = "schemas/examples/policy"

  @Test("a valid example is read, with exactly the warnings that are written beside it")
  func valid() throws {
    let names = try Repository.names(in: "\(Self.folder)/valid", suffix: ".yaml")
    let remarks = try Repository.names(in: "\(Self.folder)/valid", suffix: ".problems.txt")
    #expect(names.count >= 3 && remarks.count >= 1)
    for name in names {
      let document = try PolicyDocument(bytes: try Repository.bytes("\(Self.folder)/valid/\(name)"), file: name)
      let beside = "\(name.dropLast(5)).problems.txt"
      let expected = remarks.contains(beside) ? try Repository.text("\(Self.folder)/valid/\(beside)") : ""
      #expect(document.warnings.map { "\($0)\n" }.joined() == expected, "\(name)")
    }
  }

  @Test("an invalid example is refused with exactly the problems that are written beside it")
  func invalid() throws {
    let names = try Repository.names(in: "\(Self.folder)/invalid", suffix: ".yaml")
    #expect(names.count >= 20)
    for name in names {
      let bytes = try Repository.bytes("\(Self.folder)/invalid/\(name)")
      let expected = try Repository.text("\(Self.folder)/invalid/\(name.dropLast(5)).problems.txt")
      do {
        _ = try PolicyDocument(bytes: bytes, file: name)
        Issue.record("\(name) was read")
      } catch {
        #expect("\(error)\n" == expected, "\(name)")
      }
    }
  }

  @Test("the policy for flights is read without a warning")
  func flights() throws {
    let bytes = try Repository.bytes("Sources/rouse/Resources/flights.policy.yaml")
    let document = try PolicyDocument(bytes: bytes, file: "flights.policy.yaml")
    #expect(document.warnings == [])
    #expect(document.policy.kinds.map(\.name) == ["AirportDelays", "FlightStatus", "WeatherNow"])
  }
}
