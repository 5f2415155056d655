import Foundation
import Installation
import KafkaClient
import Logging
import Pipeline
import Testing

@testable import rouse

@Suite("Settings")
struct SettingsTests {
  private func settings(
    _ assignments: [String] = [], environment: [String: String] = [:], yaml: String? = nil
  ) throws -> Settings {
    try Settings(
      assignments: assignments, environment: environment, file: try yaml.map { try SettingsFile(path: "f", yaml: $0) })
  }

  /// Everything that the settings decide, as text.
  private func effect(_ settings: Settings) throws -> String {
    let pipeline = try settings.pipeline()
    return [
      "\(pipeline)", "\(AuditSettings(settings))", "\(settings.traces)",
      "\(settings.text(.tracesEndpoint) ?? "") \(settings.text(.tracesHeadersFile) ?? "")",
      "\(settings.text(.httpListen) ?? "")",
      // Dictionaries have another order each time.
      "\(try settings.topicPlan().topics.map { "\($0.name) \($0.partitions) \($0.replicas ?? 0) \($0.configuration.sorted { $0.key < $1.key })" })",
      "\(settings.roles.map(\.rawValue).sorted())",
      "\(settings.plannerWorkers)", "\(settings.intakeThreads)", "\(settings.logger.logLevel)", "\(settings.logFormat)",
      "\(settings.text(.policy) ?? "")", "\(settings.gatewayLimits)", "\(settings.gatewayBounds)",
      "\(settings.text(.gatewayListen) ?? "") \(settings.text(.gatewayKeys) ?? "") \(settings.gatewayRate ?? 0)",
      "\(settings.text(.consoleListen) ?? "") \(settings.text(.consoleKeys) ?? "") \(settings.number(.consoleReaders) ?? 0)",
      "\([SettingKey.gatewayTLSCertificate, .gatewayTLSKey, .consoleTLSCertificate, .consoleTLSKey].map { settings.text($0) ?? "" })",
      "\([SettingKey.oidcIssuer, .oidcAudience, .oidcKeysFile, .oidcKeysURL, .oidcGrantsFile].map { settings.text($0) ?? "" })",
      "\(settings.text(.oidcRolesClaim) ?? "") \(settings.number(.oidcClockSkew) ?? 0)",
      "\(settings.text(.gatewayAccess) ?? "") \([SettingKey.gatewayAccessDays, .gatewayAccessRecords].map { settings.number($0) ?? 0 })",
      "\([SettingKey.consoleRequestsPerSecond, .consoleAccessDays, .consoleAccessRecords, .consoleConnectionsMax].map { settings.number($0) ?? 0 })",
      "\(settings.text(.consoleDevicesView) ?? "")",
      "\(try settings.otherProcesses()?.pages.map(\.url.absoluteString) ?? [])",
    ].joined(separator: "\n")
  }

  /// A value that is not the default, as text after `--set`.
  private func other(_ setting: Setting) -> String {
    switch setting.type {
    case .text: "other"
    case .texts: "a,b"
    case .number(let bounds, _):
      "\(setting.fallback == .number(bounds.upperBound) ? bounds.lowerBound : bounds.upperBound)"
    case .choice(let words): words.first { .text($0) != setting.fallback } ?? ""
    case .choices(let words): words.last ?? ""
    case .properties: "linger.ms=7"
    case .propertyFiles: "sasl.username=/proc/sys/kernel/ostype"
    }
  }

  @Test("every key has one description, in the order of the keys")
  func described() {
    #expect(Setting.all.map(\.key) == SettingKey.allCases)
    for setting in Setting.all {
      #expect(setting.help.hasSuffix(".") || setting.help.hasSuffix("…"), "\(setting.key)")
      if let fallback = setting.fallback {
        #expect((try? setting.type.value(from: fallback.text)) == fallback, "\(setting.key)")
      }
    }
  }

  @Test("every setting changes something", arguments: SettingKey.allCases)
  func effective(_ key: SettingKey) throws {
    let place = try Workplace()
    try place.put("linger.ms=7\n", "file.properties")
    let value = key == .kafkaPropertiesFile ? place.path("file.properties") : other(Setting.of(key))
    let changed = try settings(["\(key.rawValue)=\(value)"])
    #expect(changed[key].origin == .option)
    #expect(try effect(changed) != effect(settings()))
  }

  @Test("the help lists every setting with its default")
  func help() throws {
    let help = try Workplace().rouse("run", "--help").out
    for setting in Setting.all {
      let fallback = setting.fallback.map { $0.isEmpty ? "" : " = \($0.text)" } ?? ""
      #expect(help.contains("\n  \(setting.key.rawValue)\(fallback)\n"), "\(setting.key)")
    }
  }

  @Test("an option takes precedence over the environment, the environment over the file, the file over the default")
  func precedence() throws {
    let yaml = "planner: { workers: 2 }\naudit: { retentionDays: 5 }\nroles: [audit]\n"
    let environment = ["ROUSE_PLANNER_WORKERS": "3", "ROUSE_AUDIT_RETENTION_DAYS": "6", "ROUSE_TEST_ANYTHING": "x"]
    let found = try settings(["planner.workers=4"], environment: environment, yaml: yaml)
    #expect(found.number(.plannerWorkers) == 4)
    #expect(found.number(.auditRetention) == 6)
    #expect(found.roles == [.audit])
    #expect(found.number(.commitInterval) == 100)
    #expect("\(found[.plannerWorkers].origin)" == "flag")
    #expect("\(found[.auditRetention].origin)" == "environment ROUSE_AUDIT_RETENTION_DAYS")
    #expect("\(found[.roles].origin)" == "file f")
    #expect("\(found[.commitInterval].origin)" == "default")
  }

  @Test("numbers are taken at their bounds and refused beyond them, from every source", arguments: Setting.all)
  func bounds(_ setting: Setting) throws {
    guard case .number(let bounds, _) = setting.type else { return }
    let key = setting.key.rawValue
    for number in [bounds.lowerBound, bounds.upperBound] {
      #expect(try settings(["\(key)=\(number)"]).number(setting.key) == number)
      #expect(try settings(environment: [setting.key.environmentName: "\(number)"]).number(setting.key) == number)
    }
    for wrong in ["\(bounds.lowerBound - 1)", "\(bounds.upperBound + 1)", "many", "", "1.5"] {
      let words = "\(key): expected a whole number from \(bounds.lowerBound) to \(bounds.upperBound), found '\(wrong)'"
      for source in [
        { try settings(["\(key)=\(wrong)"]) }, { try settings(environment: [setting.key.environmentName: wrong]) },
      ] {
        #expect {
          try source()
        } throws: { error in
          "\(error)".contains(words)
        }
      }
    }
  }

  @Test(
    "a wrong file is refused with line and column",
    arguments: [
      ("planner:\n  workers: 0\n", "f:2:12: planner.workers: expected a whole number from 1 to 1024, found '0'"),
      ("planner:\n  workers: [1]\n", "f:2:12: planner.workers: expected a whole number from 1 to 1024, found a list"),
      ("topics:\n  events: flights\n", "f:2:11: topics.events: expected a list of texts, found a text"),
      ("group: { a: b }\n", "f:1:8: group: expected a text, found a mapping"),
      ("roles: []\n", "f:1:8: roles: expected some of intake, planner, audit, gateway, console, found none"),
      ("timestamps: never\n", "f:1:13: timestamps: expected one of arrival, event, found 'never'"),
      ("plannr:\n  workers: 1\n", "f:1:1: plannr: unknown setting;"),
      ("planner:\n  worker: 1\n", "f:2:3: planner.worker: unknown setting; did you mean planner.workers?"),
      ("- a\n", "f:1:1: expected a mapping of settings"),
      ("group: a\ngroup: b\n", "group: given more than once"),
      ("group: \"a\n", "f: not YAML: line "),
      ("group: &a b\ninstance: *a\n", "f:2:11: instance: an unquoted * begins a YAML alias"),
      ("topics: &a { prefix: b }\n*a : c\n", "f:2:1: an unquoted * begins a YAML alias"),
      ("topics: { events: [&a b, *a] }\n", "topics.events: an unquoted * begins a YAML alias"),
      ("kafka: { properties: { sasl.username: *a } }\n", "entry 1: an unquoted * begins a YAML alias"),
      ("group: a\u{E000}\n", "f: the character U+E000 cannot be used"),
    ])
  func wrongFile(_ yaml: String, _ words: String) {
    #expect {
      try settings(yaml: yaml)
    } throws: { error in
      "\(error)".contains(words)
    }
  }

  @Test("a file whose aliases would multiply is refused at once, and other asterisks are kept")
  func aliases() throws {
    // Each list holds the one before it twice. A key is compared with the others by its whole content.
    var yaml = "group: a\n? &a0 [x, x]\n: x\n"
    for level in 1...60 { yaml += "? &a\(level) [*a\(level - 1), *a\(level - 1)]\n: x\n" }
    #expect(throws: Failure.self) { try settings(yaml: yaml) }
    let found = try settings(yaml: "group: a*b\ntopics: { events: [\"*\", '**c*'] }\n")
    #expect(try found.pipeline().group == "a*b")
    #expect(found.list(.topicsEvents) == ["*", "**c*"])
  }

  @Test("a key without a value leaves the default in force; an empty text in quotes is a value")
  func empty() throws {
    let found = try settings(yaml: "group:\ntopics: { prefix: \"\", events: ~ }\n")
    #expect(try found.pipeline().group == "rouse")
    #expect(try found.pipeline().topics.prefix == "")
    #expect(found.list(.topicsEvents) == ["events"])
    #expect(try settings(yaml: "").list(.topicsEvents) == ["events"])
  }

  @Test("the machine-readable listing describes every setting")
  func listing() throws {
    let listing = try Workplace().rouse("run", "--print-config", "--format", "json", "--set", "planner.workers=3")
    #expect(listing.status == 0)
    let all = try JSONSerialization.jsonObject(with: Data(listing.out.utf8)) as? [[String: Any]] ?? []
    #expect(all.compactMap { $0["key"] as? String } == SettingKey.allCases.map(\.rawValue))
    #expect(all.compactMap { $0["environment"] as? String } == SettingKey.allCases.map(\.environmentName))
    for member in ["type", "default", "help", "value", "origin"] {
      #expect(all.allSatisfy { $0[member] != nil }, "\(member)")
    }
    let workers = all.first { $0["key"] as? String == "planner.workers" }
    #expect(workers?["minimum"] as? Int == 1)
    #expect(workers?["maximum"] as? Int == 1024)
    #expect(workers?["unit"] as? String == "threads")
    #expect(workers?["value"] as? Int == 3)
    #expect(workers?["defaultMeaning"] as? String == "one per core")
    let wrong = try Workplace().rouse("run", "--format", "json")
    #expect(wrong.status == 2)
    #expect(wrong.err.contains("--format json: goes with --print-config only"))
  }
}
