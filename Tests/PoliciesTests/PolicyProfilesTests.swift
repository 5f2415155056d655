import Domain
import Testing

@testable import Policies

@Suite struct PolicyProfilesTests {
  @Test("the built-in profiles hold the documented numbers")
  func numbers() throws {
    #expect(PolicyProfiles.all.map(\.name) == ["apple-2026", "apple-conservative"])
    let standard = PolicyProfiles.standard
    #expect(standard.instanceReloads.limit == 48 && standard.instanceReloads.minInterval == .minutes(15))
    #expect(
      standard.devicePushes.limit == 5 && standard.devicePushes.window == .hours(1) && standard.devicePushes.burst == 3)
    #expect(standard.devicePushes.provenance.confidence == "low")
    #expect(standard.backgroundPushes.limit == 2 && standard.backgroundPushes.burst == 1)
    let careful = try #require(PolicyProfiles.named("apple-conservative"))
    #expect(careful.instanceReloads.limit == 40 && careful.instanceReloads.minInterval == .minutes(20))
    #expect(careful.devicePushes.limit == 3 && careful.devicePushes.burst == 2 && careful.backgroundPushes.limit == 1)
    #expect(PolicyProfiles.named("apple") == nil)
  }

  @Test("every number of a profile must have a source and a confidence")
  func provenance() {
    let text = """
      name: x
      instanceReloads: { limit: 1, minInterval: 1m, source: s, confidence: sure }
      devicePushes: { limit: 1, window: 1h, burst: 1, source: s }
      """
    #expect { try PolicyProfiles.read(text, name: "x.yaml") } throws: { error in
      (error as? PolicyError)?.problems.map(\.description) == [
        "x.yaml:1:1: error: backgroundPushes is missing; it is required",
        "x.yaml:2:70: error: instanceReloads.confidence: unknown value \"sure\"; expected one of high, medium, low or inference",
        "x.yaml:3:1: error: devicePushes: confidence is missing; it is required",
      ]
    }
  }
}
