public import Auditing
public import Installation
package import Policies
public import Serving

/// The settings of a console.
public struct ConsoleSettings: Sendable {
  /// The address to listen on.
  public var listen: HTTPAddress
  /// The path of the audit store.
  public var storePath: String
  /// The cluster, for dead letters, policies and health.
  public var cluster: ClusterSettings
  /// The format of the records of `rouse.state`, for the measure of the topic.
  public var state: StateFormat
  /// The certificate of TLS; nil for no TLS.
  public var certificate: TLSCertificate?
  /// The bounds of the server.
  public var limits = HTTPServerLimits()
  /// The threads that read the store, each with a connection of its own.
  public var readers = 2
  /// The most requests that wait for a reader.
  /// - Beyond: a request is refused with 503.
  public var waitingMax = 64

  /// Makes the comparison of the objectives of a policy: of a share of the devices, with at most so many instances and changes.
  package var objectives:
    @Sendable (_ policy: Policy, _ share: Double, _ instancesMax: Int, _ changesMax: Int) -> any ObjectiveComparison

  /// The registrations, for the number of devices that an event would reach; nil if the console does not know them.
  public var devices: (any ListeningDevices)?

  /// The process that the console is a part of, for the page about health; nil if it is not known.
  public var process: ConsoleProcess?

  /// The other processes of the installation, for the same page; nil if the console knows none.
  package var others: (any OtherProcesses)?

  /// The limits on the access records that are kept beside the store.
  public var accessLimits = AccessStore.RecordLimits()

  /// The path of the gateway's access records on the same machine; nil if it is not known.
  public var gatewayAccessPath: String?

  /// Whether browsers may send the cookie of a session over TLS only. A console without TLS that other hosts reach is taken to be behind a
  /// proxy with TLS.
  var hasSecureCookies: Bool { certificate != nil || !listen.isLoopback }

  /// Makes settings with the default bounds.
  ///
  /// - Parameters:
  ///   - listen: The address to listen on.
  ///   - storePath: The path of the audit store.
  ///   - cluster: The cluster.
  ///   - state: The format of the records of `rouse.state`.
  ///   - objectives: Makes the comparison of the objectives of a policy.
  package init(
    listen: HTTPAddress, storePath: String, cluster: ClusterSettings, state: StateFormat,
    objectives:
      @escaping @Sendable (_ policy: Policy, _ share: Double, _ instancesMax: Int, _ changesMax: Int) ->
      any ObjectiveComparison
  ) {
    self.listen = listen
    self.storePath = storePath
    self.cluster = cluster
    self.state = state
    self.objectives = objectives
  }
}
