import Domain
import Testing

@testable import Policies

@Suite struct PolicyProfilesTests {
  @Test("the built-in profiles hold the documented numbers")
  func numbers() throws {
    #expect(PolicyProfiles.all.map(\.profile.name) == ["apple-2026", "apple-conservative", "harmonyos-cards"])
    let standard = PolicyProfiles.standard
    #expect(standard.instanceReloads.limit == 48 && standard.instanceReloads.minInterval == .minutes(15))
    #expect(
      standard.devicePushes.limit == 5 && standard.devicePushes.window == .hours(1) && standard.devicePushes.burst == 3)
    #expect(standard.devicePushes.provenance.confidence == "low")
    #expect(standard.backgroundPushes.limit == 2 && standard.backgroundPushes.burst == 1)
    let careful = try #require(PolicyProfiles.named("apple-conservative")?.profile)
    #expect(careful.instanceReloads.limit == 40 && careful.instanceReloads.minInterval == .minutes(20))
    #expect(careful.devicePushes.limit == 3 && careful.devicePushes.burst == 2 && careful.backgroundPushes.limit == 1)
    #expect(PolicyProfiles.named("apple")?.text == nil)
  }

  @Test("controls and Live Activities have separate limits, whose source says that the platform's maker publishes none")
  func activities() throws {
    let standard = PolicyProfiles.standard
    let careful = try #require(PolicyProfiles.named("apple-conservative")?.profile)
    #expect(standard.controlPushes.limit == 12 && standard.controlPushes.burst == 4)
    #expect(standard.controlPushes.window == .hours(1) && standard.controlPushes.provenance.confidence == "inference")
    #expect(standard.activityPushes.limit == 10 && standard.activityPushes.burst == 3)
    #expect(standard.activityPushes.window == .hours(1) && standard.activityPushes.provenance.confidence == "low")
    #expect(standard.frequentPushesFactor == 3 && careful.frequentPushesFactor == 2)
    #expect(standard.activityStarts.limit == 10 && standard.activityStarts.window == .hours(24))
    #expect(standard.activityStarts.burst == 3 && standard.activityStarts.provenance.confidence == "medium")
    for (name, path, _) in PolicyKeys.rates {
      let limits = try [standard, careful].map { try #require($0[keyPath: path].limit, "\(name)") }
      #expect(limits[1] < limits[0] && careful[keyPath: path].burst <= standard[keyPath: path].burst, "\(name)")
    }
  }

  @Test(
    "the rates of harmonyos-cards keep the platform's two limits at once",
    arguments: [(55, 6, 10, 60), (165, 16, 30, 180)])
  func harmony(_ limit: Int, _ burst: Int, _ perFiveMinutes: Int, _ perHour: Int) throws {
    let profile = try #require(PolicyProfiles.named("harmonyos-cards")?.profile)
    #expect(profile.instanceReloads.limit == 200 && profile.devicePushes.limit == nil)
    if limit == 55 { #expect(profile.activityPushes.limit == limit && profile.activityPushes.burst == burst) }
    let interval = TimeSpan.hours(1).microseconds / Int64(limit)
    // The most admissions of a cell rate algorithm: the burst at once, then one in each interval.
    func most(in window: TimeSpan) -> Int { burst + Int((window.microseconds - 1) / interval) }
    #expect(most(in: .minutes(5)) <= perFiveMinutes)
    // The interval is cut to whole microseconds. The rest of them may admit one more at the end of the hour.
    #expect(most(in: TimeSpan(microseconds: interval * Int64(limit))) <= perHour)
  }

  @Test(
    "a payload falls into the band of its bytes, and above the limit it is refused",
    arguments: [
      (0, PayloadBand.safe, PayloadBand.safe), (2047, .safe, .safe), (2048, .watch, .watch), (3071, .watch, .watch),
      (3072, .risky, .risky), (3583, .risky, .risky), (3584, .allowed, .allowed), (4096, .allowed, .allowed),
      (4097, .refused, .allowed), (5120, .refused, .allowed), (5121, .refused, .refused),
    ])
  func payloads(_ bytes: Int, _ device: PayloadBand, _ channel: PayloadBand) {
    let profile = PolicyProfiles.standard
    #expect(profile.payloadBand(bytes: bytes, isBroadcast: false) == device)
    #expect(profile.payloadBand(bytes: bytes, isBroadcast: true) == channel)
    #expect(profile.payload.provenance.confidence == "high")
    #expect(profile.payloadBands.provenance.confidence == "inference")
  }

  @Test("bands that do not rise are refused")
  func bandsOutOfOrder() {
    let text = PolicyProfiles.all[0].text.replacing("watch: 3072", with: "watch: 5000")
    #expect(throws: PolicyError.self) { try ProfileDocument(bytes: Array(text.utf8), file: "x.yaml") }
  }

  @Test("each profile that comes along is the file of its name, to the byte")
  func files() throws {
    let folder = "Sources/Policies/Profiles"
    let names = try Repository.names(in: folder, suffix: ".yaml")
    #expect(PolicyProfiles.all.map(\.file) == names)
    for document in PolicyProfiles.all {
      #expect(document.text == (try Repository.text("\(folder)/\(document.file)")))
      #expect(document.file == "\(document.profile.name).yaml")
    }
  }
}
