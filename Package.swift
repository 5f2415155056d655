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
  // Versions are exact, so that a build is the same tomorrow. `Package.resolved` is not committed: it also holds the ids of
  // commits, a mirror of the packages can have other ids than GitHub, and SwiftPM then ends with "couldn't check out revision".
  dependencies: [
    // The command line: subcommands, help texts, completion.
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    // Policies: the YAML node tree with line and column marks.
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    // The audit store: SQLite with migrations and WAL.
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    // Structured logs of the long-running roles.
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    // rouse bench latency: percentiles of any number of samples, exact to three digits, in fixed memory. Other tools use
    // the same arithmetic, so the figures can be compared. Its only dependency is swift-numerics.
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
    // Named only to pin it: hdrhistogram-swift needs it, and nothing else has a dependency of its own.
    .package(url: "https://github.com/apple/swift-numerics", exact: "1.1.1"),
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
      name: "Policies", dependencies: ["Domain", "JSON", .product(name: "Yams", package: "Yams")],
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
    .target(name: "Replay", dependencies: ["Planning", "Domain", "Policies", "JSON", "LineFiles"]),
    .target(name: "Backtesting", dependencies: ["Replay", "Planning", "Domain", "Policies", "JSON", "LineFiles"]),
    .target(
      name: "Benchmarks",
      dependencies: [
        "Auditing", "Domain", "KafkaClient", "Pipeline", "Planning", "Policies",
        .product(name: "Histogram", package: "hdrhistogram-swift"),
        .product(name: "RealModule", package: "swift-numerics"), .product(name: "Logging", package: "swift-log"),
      ]),
    .executableTarget(
      name: "rouse",
      dependencies: [
        "Benchmarks", "Replay", "Backtesting", "Pipeline", "Auditing", "Verification", "Planning", "Policies", "Domain",
        "KafkaClient", "LineFiles", "JSON",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Yams", package: "Yams"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ],
      resources: [.copy("Resources")],
      linkerSettings: [
        // Replaces the allocator of the C library, because records are allocated on the planner's thread and freed on
        // librdkafka's. It saves 7 % of a planner's processor time and 10 to 25 % of its memory (`rouse bench pipeline`,
        // `rouse bench restore`).
        .linkedLibrary("mimalloc", .when(platforms: [.linux], configuration: .release))
      ]),

    .testTarget(name: "JSONTests", dependencies: ["JSON", "Domain"]),
    .testTarget(name: "LineFilesTests", dependencies: ["LineFiles"]),
    .testTarget(name: "KafkaClientTests", dependencies: ["KafkaClient"]),
    .testTarget(name: "DomainTests", dependencies: ["Domain", "JSON"]),
    .testTarget(name: "PoliciesTests", dependencies: ["Policies", "Domain", "JSON"]),
    .testTarget(
      name: "PlanningTests",
      dependencies: ["Planning", "Policies", "Domain", "JSON", .product(name: "Yams", package: "Yams")],
      resources: [.copy("Corpus")]),
    .testTarget(
      name: "PipelineTests",
      dependencies: [
        "Pipeline", "KafkaClient", "Planning", "Policies", "Replay", "Domain", "JSON",
        .product(name: "Logging", package: "swift-log"), .product(name: "InMemoryLogging", package: "swift-log"),
      ]),
    .testTarget(
      name: "AuditingTests",
      dependencies: ["Auditing", "Domain", "JSON", .product(name: "GRDB", package: "GRDB.swift")]),
    .testTarget(name: "VerificationTests", dependencies: ["Verification", "Domain", "JSON"]),
    .testTarget(
      name: "ReplayTests", dependencies: ["Replay", "Planning", "Policies", "Domain", "JSON", "LineFiles"]),
    .testTarget(
      name: "BacktestingTests",
      dependencies: ["Backtesting", "Replay", "Planning", "Policies", "Domain", "JSON", "LineFiles"]),
    .testTarget(
      name: "SimulatedPipelineTests",
      dependencies: [
        "Pipeline", "Verification", "KafkaClient", "Planning", "Policies", "Domain", "JSON",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "FuzzingTests",
      dependencies: [
        "Auditing", "Pipeline", "KafkaClient", "Planning", "Policies", "Verification", "Domain", "JSON",
      ], exclude: ["Corpus"]),
    .testTarget(name: "BenchmarksTests", dependencies: ["Benchmarks", "Auditing", "Domain", "Pipeline", "Policies"]),
    .testTarget(
      name: "RouseTests",
      dependencies: [
        "rouse", "KafkaClient", "Pipeline", "JSON", "Domain", .product(name: "Logging", package: "swift-log"),
      ],
      // A script that computes the same as `rouse simulate`, for comparison.
      exclude: ["Reference"]
    ),
    .testTarget(
      name: "FireTests", dependencies: ["rouse", "Verification", "Pipeline", "Policies", "Domain", "KafkaClient"]),
  ],
  cxxLanguageStandard: .cxx17
)

for target in package.targets where target.type != .system && target.name != "CSimdjson" {
  target.swiftSettings = strict
}

// Coverage-guided fuzzing (`deploy/fuzz.sh`) builds the fuzz tests alone, in a folder of their own, with everything that they read
// instrumented. ROUSE_FUZZ_RUNTIME is the path of libFuzzer's runtime without a main function.
if let runtime = Context.environment["ROUSE_FUZZ_RUNTIME"] {
  package.products = []
  package.targets.removeAll { target in
    ["rouse", "Benchmarks", "Backtesting", "Replay"].contains(target.name)
      || target.type == .test && target.name != "FuzzingTests"
  }
  package.targets.append(.target(name: "CFuzzer", path: "Tests/CFuzzer"))
  for target in package.targets where target.swiftSettings != nil {
    // Optimised, because that finds ten times more, and with the assertions that optimising would remove.
    target.swiftSettings?.append(
      .unsafeFlags(["-sanitize=fuzzer", "-O", "-assert-config", "Debug", "-enable-testing"]))
    guard target.name == "FuzzingTests" else { continue }
    target.dependencies.append("CFuzzer")
    target.swiftSettings?.append(.define("FUZZ"))
    target.linkerSettings = [.unsafeFlags([runtime, "-lstdc++"])]
  }
}
