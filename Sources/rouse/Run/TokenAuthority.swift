import Domain
import Foundation
import Keys
import Logging
import Observing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The tokens that the roles `gateway` and `console` of a process take, and the thread that keeps the issuer's keys up to date.
final class TokenAuthority: Sendable {
  /// Checks tokens.
  let verifier: TokenVerifier
  /// The issuer, for the status of the process.
  let issuer: String
  private let turns: RepeatedTurn

  /// The longest time of a question to the issuer, in seconds.
  private static let timeLimit: TimeInterval = 10

  /// Starts the thread. The keys of a file are read before; the issuer's address is asked on the thread, so an issuer that is away holds up
  /// nothing.
  ///
  /// - Parameters:
  ///   - settings: The settings of the process.
  ///   - registry: Gets the metrics.
  ///   - logger: Gets changes and faults.
  /// - Returns: The tokens, whose thread must be ended; nil if the process takes none.
  /// - Throws: ``Failure`` that says what to do if a file cannot be used.
  static func start(_ settings: Settings, _ registry: MetricRegistry, _ logger: Logger) throws -> TokenAuthority? {
    guard let source = try settings.tokens() else { return nil }
    return try TokenAuthority(source, registry, logger)
  }

  private init(_ source: TokenSource, _ registry: MetricRegistry, _ logger: Logger) throws {
    let metrics = TokenMetrics(registry)
    let keys = IssuerKeys(Self.place(source.keys), metrics: metrics, logger: logger)
    do throws(TokenGrantsError) {
      verifier = try TokenVerifier(
        source.settings, keys: keys, grantsPath: source.grantsPath, metrics: metrics, logger: logger)
    } catch {
      throw Failure("\(SettingKey.oidcGrantsFile.rawValue): \(error)")
    }
    if case .file = source.keys {
      verifier.refresh(at: .now, wallClock: Machine.now)
      if let fault = Self.fault(verifier.keysStatus) {
        throw Failure("\(SettingKey.oidcKeysFile.rawValue): \(fault)")
      }
    }
    issuer = source.settings.issuer
    registry.collect { [verifier] in verifier.collect(at: Machine.now) }
    turns = RepeatedTurn("oidc-keys", beginsAtOnce: true) { [verifier] in
      verifier.refresh(at: .now, wallClock: Machine.now)
    }
  }

  /// Ends the thread.
  func end() { turns.end() }

  /// The reason why no token can be checked; nil if one can.
  var fault: String? { Self.fault(verifier.keysStatus) }

  private static func fault(_ status: IssuerKeys.Status) -> String? {
    guard status.keysCount == 0 else { return nil }
    return status.fault ?? (status.readAt == nil ? "they have not been read yet" : "none of them can check a signature")
  }

  /// Reads the issuer's keys and the file of grants once, for `rouse doctor`.
  ///
  /// - Parameter source: The settings of tokens.
  /// - Returns: The reasons why a process could check no token; none if it could.
  static func faults(of source: TokenSource) -> [String] {
    let keys = IssuerKeys(
      place(source.keys), metrics: TokenMetrics(MetricRegistry()),
      logger: Logger(label: "none") { _ in SwiftLogNoOpLogHandler() })
    keys.refresh(at: .now, wallClock: Machine.now)
    var faults = fault(keys.status).map { ["the keys of \(source.settings.issuer): \($0)"] } ?? []
    if let path = source.grantsPath {
      do throws(TokenGrantsError) { _ = try TokenGrants(path: path) } catch { faults.append("\(error)") }
    }
    return faults
  }

  private static func place(_ place: TokenSource.KeysPlace) -> IssuerKeys.KeyOrigin {
    switch place {
    case .file(let path): return .file(path)
    case .address(let url):
      let requests = BlockingRequests(timeLimit: timeLimit, bodyBytesMax: IssuerKeys.bytesMax)
      return .address(url.absoluteString) { () throws(IssuerKeysError) in
        var request = URLRequest(url: url)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        do throws(Failure) {
          let answer = try requests.send(request)
          guard answer.status == 200 else { throw Failure("the issuer answers with status \(answer.status)") }
          return answer.body
        } catch {
          throw IssuerKeysError(error.description)
        }
      }
    }
  }
}
