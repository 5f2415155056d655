// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target: Swift 6 mode, strict memory safety, no warning passes.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
  name: "rouse",
  products: [.executable(name: "rouse", targets: ["rouse"])],
  dependencies: [
    // The command line: subcommands, help texts, completion.
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    // Settings by flag, environment and YAML file, each with where it came from.
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: [.defaults, "YAML"]),
    // Policies: the YAML node tree with line and column marks.
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    // The audit store: SQLite with migrations and WAL.
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    // Structured logs of the long-running roles.
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    // rouse bench latency: percentiles up to 99.99 % of any number of samples, exact to three digits in fixed memory, in
    // the format and with the arithmetic that other tools' figures are made with. It needs swift-numerics only.
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
  ],
  targets: [
    .systemLibrary(name: "CLibrdkafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),

    .target(name: "JSON", dependencies: ["CSimdjson"]),
    .target(name: "LineFiles", dependencies: ["CZlib"]),
    .target(name: "KafkaClient", dependencies: ["CLibrdkafka"]),
    .target(name: "Domain", dependencies: ["JSON"]),
    .target(
      name: "Policies", dependencies: ["Domain", .product(name: "Yams", package: "Yams")],
      resources: [.embedInCode("Profiles")]),
    .target(name: "Planning", dependencies: ["Domain", "Policies", "JSON"]),
    .target(
      name: "Pipeline",
      dependencies: [
        "Planning", "KafkaClient", "Domain", "JSON", "Policies",
        // CRC-32 of local snapshots.
        "CZlib", .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "Auditing",
      dependencies: [
        "Domain", "JSON", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    // Must never depend on Planning, Auditing or a database: it checks what they did from public records alone.
    .target(name: "Verification", dependencies: ["Domain", "Policies", "JSON"]),
    .target(name: "Simulation", dependencies: ["Planning", "Domain", "Policies", "JSON", "LineFiles"]),
    .executableTarget(
      name: "rouse",
      dependencies: [
        "Simulation", "Pipeline", "Auditing", "Verification", "Planning", "Policies", "Domain", "KafkaClient",
        "LineFiles",
        "JSON",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Configuration", package: "swift-configuration"),
        // Finds misspelt keys of the settings file, which swift-configuration passes over.
        .product(name: "Yams", package: "Yams"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ],
      resources: [.copy("Resources")],
      linkerSettings: [
        // In the place of the C library's allocator: a record is allocated on the planner's thread and freed on librdkafka's.
        // 7 % of a planner's processor time and 10 to 25 % of its memory (`rouse bench pipeline`, `rouse bench restore`).
        .linkedLibrary("mimalloc", .when(platforms: [.linux], configuration: .release))
      ]),

    .testTarget(name: "JSONTests", dependencies: ["JSON"]),
    .testTarget(name: "LineFilesTests", dependencies: ["LineFiles"]),
    .testTarget(name: "KafkaClientTests", dependencies: ["KafkaClient"]),
    .testTarget(name: "DomainTests", dependencies: ["Domain", "JSON"]),
    .testTarget(name: "PoliciesTests", dependencies: ["Policies", "Domain"]),
    .testTarget(
      name: "PlanningTests",
      dependencies: ["Planning", "Policies", "Domain", "JSON", .product(name: "Yams", package: "Yams")],
      resources: [.copy("Corpus")]),
    .testTarget(
      name: "PipelineTests",
      dependencies: [
        "Pipeline", "KafkaClient", "Planning", "Policies", "Domain", "JSON",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "AuditingTests",
      dependencies: ["Auditing", "Domain", "JSON", .product(name: "GRDB", package: "GRDB.swift")]),
    .testTarget(name: "VerificationTests", dependencies: ["Verification", "Domain", "JSON"]),
    .testTarget(
      name: "SimulationTests", dependencies: ["Simulation", "Planning", "Policies", "Domain", "JSON", "LineFiles"]),
    .testTarget(
      name: "SimulatedPipelineTests",
      dependencies: [
        "Pipeline", "Verification", "Simulation", "KafkaClient", "Planning", "Policies", "Domain", "JSON",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(name: "RouseTests", dependencies: ["rouse", "Pipeline", "KafkaClient", "JSON", "Domain"]),
    .testTarget(
      name: "FireTests", dependencies: ["rouse", "Verification", "Pipeline", "Policies", "Domain", "KafkaClient"]),
  ],
  cxxLanguageStandard: .cxx17
)

for target in package.targets where target.type != .system && target.name != "CSimdjson" {
  target.swiftSettings = strict
}
