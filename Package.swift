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
  // What apps on Apple's systems need; everything else is built on Linux.
  platforms: [.macOS(.v15), .iOS(.v17), .watchOS(.v10), .visionOS(.v1)],
  products: [
    .executable(name: "rouse", targets: ["rouse"]),
    // For apps: `.package(…, traits: [])` fetches none of the packages below.
    .library(name: "RouseClient", targets: ["RouseClient"]),
  ],
  traits: [
    .trait(name: "Server", description: "Everything but the library RouseClient."),
    .default(enabledTraits: ["Server"]),
  ],
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
    // Metrics of libraries: what they count lands in the same registry as the pipeline's own metrics.
    .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
    // Traces: spans of Rouse's stages and of libraries go through one tracer, which takes W3C trace contexts over.
    .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
    .package(url: "https://github.com/apple/swift-service-context", exact: "1.5.1"),
    // The HTTP servers: metrics, probes and status, the gateway, the console. The server above it is ours, not a framework's: none
    // that can be had bounds connections, heads, bodies and streams for each client, and gives a place to a client that speaks.
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    // TLS and HTTP/2 of the gateway and the console. BoringSSL is a part of swift-nio-ssl: its version is that of the TLS.
    .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
    .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
    // The signatures of OIDC tokens: RSA, ECDSA and Ed25519. BoringSSL is a part of swift-crypto, apart from that of swift-nio-ssl, which
    // has no public functions for signatures. jwt-kit, which is built on swift-crypto, is not used: it refuses all keys of an issuer
    // because of one that it does not know, takes another key if the named one is missing, checks on an actor only, and brings
    // swift-certificates along.
    .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
    // Named only to pin it: the RSA of swift-crypto needs it.
    .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
    // The templates of the console's pages.
    .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
    // Named only to pin them: swift-nio needs them.
    .package(url: "https://github.com/apple/swift-atomics", exact: "1.3.0"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
  ],
  targets: [
    .systemLibrary(name: "CLibrdkafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    // One instruction of the processor, as a function in a header.
    .systemLibrary(name: "CPrefetch"),
    .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),

    // For apps. Must never depend on another target or a package.
    .target(name: "RouseClient"),

    .target(name: "JSON", dependencies: ["CSimdjson"]),
    .target(name: "LineFiles", dependencies: ["CZlib"]),
    .target(name: "KafkaClient", dependencies: ["CLibrdkafka"]),
    .target(name: "Domain", dependencies: ["JSON"]),
    .target(
      name: "Policies", dependencies: ["Domain", "JSON", .product(name: "Yams", package: "Yams")],
      resources: [.embedInCode("Profiles")]),
    .target(name: "Planning", dependencies: ["Domain", "Policies", "JSON", "CPrefetch"]),
    .target(
      name: "Observing",
      dependencies: [
        "JSON", .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "ServiceContextModule", package: "swift-service-context"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    .target(
      name: "Serving",
      dependencies: [
        "JSON", "LineFiles",
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"), .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOHPACK", package: "swift-nio-http2"),
        .product(name: "Logging", package: "swift-log"),
        // Not imported: a package without a used product cannot be pinned.
        .product(name: "Atomics", package: "swift-atomics"),
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    // The topics and groups of an installation, and the cluster as its parts use it. Must never depend on Planning or Policies.
    .target(name: "Installation", dependencies: ["KafkaClient", "Domain"]),
    .target(
      name: "Pipeline",
      dependencies: [
        "Installation", "Planning", "KafkaClient", "Domain", "JSON", "Policies", "Observing",
        // CRC-32 of local snapshots.
        "CZlib", .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceContextModule", package: "swift-service-context"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    // The tools of operators. Must never depend on Planning or Pipeline.
    .target(name: "Operating", dependencies: ["Installation", "KafkaClient", "Domain", "JSON", "Policies"]),
    // API keys and OIDC tokens: who may do what.
    .target(
      name: "Keys",
      dependencies: [
        "Domain", "JSON", "LineFiles", "Observing", "Serving", .product(name: "Logging", package: "swift-log"),
        .product(name: "Crypto", package: "swift-crypto"), .product(name: "CryptoExtras", package: "swift-crypto"),
        // Not imported: a package without a used product cannot be pinned.
        .product(name: "SwiftASN1", package: "swift-asn1"),
      ]),
    // HTTP in, records of Kafka out. Must never depend on Planning, Policies or a database.
    .target(
      name: "Gateway",
      dependencies: [
        "Domain", "JSON", "KafkaClient", "Keys", "Observing", "Serving",
        .product(name: "Logging", package: "swift-log"),
      ]),
    // The registrations in force, for the gateway. Must never depend on the gateway.
    .target(
      name: "DeviceView",
      dependencies: [
        "Domain", "KafkaClient", "Observing", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "Auditing",
      dependencies: [
        "Domain", "JSON", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    // What the pipeline's audit feed reads, into the audit store.
    .target(name: "Storing", dependencies: ["Auditing", "Domain", "Pipeline"]),
    // Questions over HTTP, and the pages for people. It asks the audit store, and never writes to it. Must never depend on Pipeline,
    // Planning or Backtesting.
    .target(
      name: "Console",
      dependencies: [
        "Auditing", "Domain", "Installation", "JSON", "KafkaClient", "Keys", "Observing", "Operating", "Policies",
        "Serving",
        .product(name: "Logging", package: "swift-log"), .product(name: "Mustache", package: "swift-mustache"),
      ],
      resources: [.embedInCode("Templates")]),
    // Must never depend on Planning, Auditing or a database: it checks what they did from public records alone.
    .target(name: "Verification", dependencies: ["Domain", "Policies", "JSON"]),
    .target(
      name: "Replay",
      dependencies: [
        "Planning", "Domain", "Policies", "JSON", "LineFiles",
        .product(name: "HeapModule", package: "swift-collections"),
      ]),
    .target(name: "Backtesting", dependencies: ["Replay", "Planning", "Domain", "Policies", "JSON", "LineFiles"]),
    .target(
      name: "Benchmarks",
      dependencies: [
        "Auditing", "Domain", "Gateway", "Installation", "JSON", "KafkaClient", "Observing", "Operating", "Pipeline",
        "Planning", "Policies", "Serving",
        .product(name: "Histogram", package: "hdrhistogram-swift"),
        .product(name: "RealModule", package: "swift-numerics"), .product(name: "Logging", package: "swift-log"),
      ]),
    .executableTarget(
      name: "rouse",
      dependencies: [
        "Benchmarks", "Replay", "Backtesting", "Pipeline", "Auditing", "Verification", "Planning", "Policies", "Domain",
        "KafkaClient", "LineFiles", "JSON", "Observing", "Serving", "Keys", "DeviceView", "Gateway", "Console",
        "Installation", "Operating", "Storing",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Yams", package: "Yams"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ],
      resources: [.copy("Resources"), .embedInCode("Bounds/bounds.tsv")],
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
    .testTarget(
      name: "ObservingTests",
      dependencies: [
        "Observing", "JSON", .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "ServiceContextModule", package: "swift-service-context"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    .testTarget(
      name: "ServingTests",
      dependencies: [
        "HTTPTesting", "Serving", .product(name: "Logging", package: "swift-log"),
        .product(name: "InMemoryLogging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ]),
    // A client, an issuer of tokens, and checks of `schemas/openapi.yaml`, for the tests of servers.
    .target(
      name: "HTTPTesting",
      dependencies: [
        "JSON", "Serving", .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"), .product(name: "Yams", package: "Yams"),
      ],
      path: "Tests/HTTPTesting"),
    .testTarget(
      name: "KeysTests",
      dependencies: [
        "HTTPTesting", "Keys", "Domain", "JSON", "LineFiles", "Observing", "Serving",
        .product(name: "Logging", package: "swift-log"), .product(name: "InMemoryLogging", package: "swift-log"),
      ]),
    .testTarget(
      name: "GatewayTests",
      dependencies: [
        "HTTPTesting", "Gateway", "Keys", "RouseClient", "Serving", "KafkaClient", "Domain", "JSON", "LineFiles",
        "Observing",
        .product(name: "Logging", package: "swift-log"), .product(name: "Yams", package: "Yams"),
      ]),
    .testTarget(
      name: "ConsoleTests",
      dependencies: [
        "HTTPTesting", "Console", "Auditing", "Backtesting", "Installation", "Keys", "Serving", "Domain", "JSON",
        "KafkaClient",
        "Observing", "Operating", "Pipeline", "Policies",
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"), .product(name: "Yams", package: "Yams"),
      ]),
    .testTarget(
      name: "DeviceViewTests",
      dependencies: [
        "DeviceView", "KafkaClient", "Domain", "Observing", .product(name: "Logging", package: "swift-log"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(name: "RouseClientTests", dependencies: ["RouseClient", "Serving"]),
    .testTarget(name: "PoliciesTests", dependencies: ["Policies", "Domain", "JSON"]),
    .testTarget(
      name: "PlanningTests",
      dependencies: ["Planning", "Policies", "Domain", "JSON", .product(name: "Yams", package: "Yams")],
      resources: [.copy("Corpus")]),
    .testTarget(
      name: "PipelineTests",
      dependencies: [
        "Installation", "Operating", "Pipeline", "KafkaClient", "Planning", "Policies", "Replay", "Domain", "JSON",
        "Observing",
        .product(name: "Logging", package: "swift-log"), .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    .testTarget(
      name: "OperatingTests", dependencies: ["Operating", "Installation", "KafkaClient", "Domain", "Policies"]),
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
        "Installation", "Operating", "Pipeline", "Verification", "KafkaClient", "Planning", "Policies", "Domain",
        "JSON",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "FuzzingTests",
      dependencies: [
        "Auditing", "Installation", "Operating", "Pipeline", "KafkaClient", "Planning", "Policies", "Verification",
        "Domain", "JSON",
      ], exclude: ["Corpus"]),
    .testTarget(
      name: "BenchmarksTests",
      dependencies: ["Benchmarks", "Auditing", "Domain", "Installation", "Pipeline", "Policies"]),
    .testTarget(
      name: "RouseTests",
      dependencies: [
        "rouse", "DeviceView", "Gateway", "Console", "HTTPTesting", "Installation", "Keys", "KafkaClient", "Operating",
        "Pipeline", "JSON", "Domain", "Observing", "Serving", "Storing",
        .product(name: "Logging", package: "swift-log"), .product(name: "Yams", package: "Yams"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ],
      // A script that computes the same as `rouse simulate`, for comparison.
      exclude: ["Reference"]
    ),
    .testTarget(
      name: "FireTests",
      dependencies: [
        "rouse", "Verification", "Installation", "Operating", "Pipeline", "Policies", "Domain", "KafkaClient",
      ]),
    // What is in `deploy`, checked with the programs that use it.
    .testTarget(
      name: "DeployTests",
      dependencies: [
        "rouse", "HTTPTesting", "KafkaClient", "Domain", "JSON", .product(name: "GRDB", package: "GRDB.swift"),
      ],
      exclude: ["check-api.py", "check-chart.py", "check-console.py"]),
  ],
  cxxLanguageStandard: .cxx17
)

for target in package.targets where target.type != .system && target.name != "CSimdjson" {
  target.swiftSettings = strict
}

/// Optimises, and keeps the assertions that optimising would remove.
let optimised = ["-O", "-assert-config", "Debug"]

// The simulated pipelines and the property tests spend their time in these, so debug builds optimise them, too.
for target in package.targets
where [
  "JSON", "Domain", "Policies", "Planning", "Installation", "Pipeline", "Verification", "SimulatedPipelineTests",
  "PlanningTests",
].contains(target.name) {
  target.swiftSettings?.append(.unsafeFlags(optimised, .when(configuration: .debug)))
}

// SwiftPM does not fetch a package of which every product is under a condition that does not hold. So an app that resolves
// RouseClient without the trait gets no package of the server.
for target in package.targets {
  target.dependencies = target.dependencies.map { dependency in
    guard case .productItem(let name, let package, let moduleAliases, _) = dependency else { return dependency }
    return .productItem(
      name: name, package: package, moduleAliases: moduleAliases, condition: .when(traits: ["Server"]))
  }
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
    // Optimised, because that finds ten times more.
    target.swiftSettings?.append(.unsafeFlags(["-sanitize=fuzzer", "-enable-testing"] + optimised))
    guard target.name == "FuzzingTests" else { continue }
    target.dependencies.append("CFuzzer")
    target.swiftSettings?.append(.define("FUZZ"))
    target.linkerSettings = [.unsafeFlags([runtime, "-lstdc++"])]
  }
}
