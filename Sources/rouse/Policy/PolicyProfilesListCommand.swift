import ArgumentParser
import Domain
import JSON
import Policies

/// Prints all profiles.
struct PolicyProfilesListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Print every profile, each number with its source.",
    discussion: """
      EXAMPLE
        rouse policy profiles list --format json
      """)

  @OptionGroup var output: FormatOption

  func run() throws {
    switch output.format {
    case .text:
      try Output.print(PolicyProfiles.all.map { PrintableText(lines: text($0.profile)) }.joined(separator: "\n"))
    case .json: try Output.print(json())
    }
  }

  private func text(_ profile: BudgetProfile) -> String {
    let reloads = profile.instanceReloads
    let isDefault = profile.name == PolicyProfiles.standard.name ? " (the default)" : ""
    var text = "\(profile.name)\(isDefault)\n"
    let apart = reloads.minInterval > .zero ? ", \(DurationText.format(reloads.minInterval)) apart" : ""
    text += line("reloads of an instance", "\(reloads.limit) a day\(apart)", reloads.provenance)
    text += line(
      "reloads of a timeline", profile.timelineReloads.areCharged ? "among these" : "free",
      profile.timelineReloads.provenance)
    text += line("widget pushes to a device", rate(profile.devicePushes), profile.devicePushes.provenance)
    text += line("background pushes to a device", rate(profile.backgroundPushes), profile.backgroundPushes.provenance)
    text += line("pushes to a control", rate(profile.controlPushes), profile.controlPushes.provenance)
    let frequent =
      profile.frequentPushesFactor > 1 ? "; \(profile.frequentPushesFactor) times that with frequent updates" : ""
    text += line(
      "urgent pushes to a Live Activity", rate(profile.activityPushes) + frequent, profile.activityPushes.provenance)
    text += line(
      "starts of Live Activities on a device", rate(profile.activityStarts), profile.activityStarts.provenance)
    text += line(
      "payload of a Live Activity push",
      "at most \(profile.payload.limit) bytes, \(profile.payload.broadcastLimit) to a channel",
      profile.payload.provenance)
    let bands = profile.payloadBands
    text += line(
      "payload bands",
      "safe below \(bands.safe), watch below \(bands.watch), risky below \(bands.risky), allowed up to the limit",
      bands.provenance)
    return text
  }

  private func line(_ what: String, _ limit: String, _ provenance: BudgetProfile.Provenance) -> String {
    "  \(what): \(limit)\n    confidence \(provenance.confidence): \(provenance.source)\n"
  }

  private func rate(_ rate: BudgetProfile.Rate) -> String {
    guard let limit = rate.limit else { return "unlimited" }
    return "\(limit) in \(DurationText.format(rate.window)), burst \(rate.burst)"
  }

  private func json() -> [UInt8] {
    var json = JSONWriter()
    json.beginArray()
    for profile in PolicyProfiles.all.map(\.profile) {
      json.beginObject()
      json.member("name", profile.name)
      json.object("instanceReloads") { json in
        json.member("perDay", profile.instanceReloads.limit)
        json.member("minIntervalSeconds", profile.instanceReloads.minInterval.microseconds / 1_000_000)
        write(profile.instanceReloads.provenance, to: &json)
      }
      json.object("timelineReloads") { json in
        json.member("charged", profile.timelineReloads.areCharged)
        write(profile.timelineReloads.provenance, to: &json)
      }
      json.key("devicePushes")
      write(profile.devicePushes, to: &json)
      json.key("backgroundPushes")
      write(profile.backgroundPushes, to: &json)
      json.key("controlPushes")
      write(profile.controlPushes, to: &json)
      json.key("activityPushes")
      write(profile.activityPushes, to: &json)
      json.member("frequentPushesFactor", profile.frequentPushesFactor)
      json.key("activityStarts")
      write(profile.activityStarts, to: &json)
      write(profile.payload, profile.payloadBands, to: &json)
      json.endObject()
    }
    json.endArray()
    return json.bytes
  }

  private func write(_ rate: BudgetProfile.Rate, to json: inout JSONWriter) {
    json.beginObject()
    json.key("limit")
    if let limit = rate.limit { json.integer(limit) } else { json.null() }
    json.member("windowSeconds", rate.window.microseconds / 1_000_000)
    json.member("burst", rate.burst)
    write(rate.provenance, to: &json)
    json.endObject()
  }

  private func write(
    _ payload: BudgetProfile.PayloadLimit, _ bands: BudgetProfile.PayloadBands, to json: inout JSONWriter
  ) {
    json.object("payload") { json in
      json.member("limit", payload.limit)
      json.member("broadcastLimit", payload.broadcastLimit)
      write(payload.provenance, to: &json)
    }
    json.object("payloadBands") { json in
      json.member("safe", bands.safe)
      json.member("watch", bands.watch)
      json.member("risky", bands.risky)
      write(bands.provenance, to: &json)
    }
  }

  private func write(_ provenance: BudgetProfile.Provenance, to json: inout JSONWriter) {
    json.member("confidence", provenance.confidence)
    json.member("source", provenance.source)
  }
}
