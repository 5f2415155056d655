import Domain
import Foundation
import Keys
import Serving

/// The operations of the gateway, by their names in `schemas/openapi.yaml`.
enum GatewayOperation: String, CaseIterable, Sendable {
  /// `POST /v1/events`.
  case publishEvents
  /// `GET /v1/devices/{device}`.
  case getDevice
  /// `PUT /v1/devices/{device}`.
  case putDevice
  /// `DELETE /v1/devices/{device}`.
  case deleteDevice
  /// `POST /v1/devices/{device}/signals`.
  case publishSignals

  /// The roles of which a key needs one. Which signals it may send depends on the role (`Signal.Kind.role`).
  var roles: [KeyRole] {
    switch self {
    case .publishEvents: [.publisher]
    case .getDevice, .putDevice, .deleteDevice: [.registrar]
    case .publishSignals: [.registrar, .sender]
    }
  }
}

extension Signal.Kind {
  /// The roles of which a key needs one to send the signal. What became of a command gives tokens back, so a device or its app cannot say
  /// it. A token that APNs refused can be replaced by a registrar, too.
  var roles: [KeyRole] {
    switch self {
    case .deliveryCompleted: [.sender]
    case .tokenRejected: [.registrar, .sender]
    case .appForegrounded, .appBackgrounded, .widgetFetched, .widgetViewed: [.registrar]
    case .activityStarted, .activityEnded, .activityDismissed: [.registrar]
    }
  }
}

/// An operation with what the path says.
struct GatewayRoute: Sendable, Equatable {
  var operation: GatewayOperation
  /// The device in the path; nil if the operation has none.
  var device: String?

  /// Finds the operation of a request.
  ///
  /// - Parameters:
  ///   - method: The method. `HEAD` is answered as `GET`.
  ///   - path: The path without the query, escaped as it was sent.
  /// - Throws: `Problem` for a path or a method that there is none of.
  init(method: String, path: String) throws(Problem) {
    let steps = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    let operations: [String: GatewayOperation]
    if steps.elementsEqual(["v1", "events"]) {
      operations = ["POST": .publishEvents]
    } else if steps.starts(with: ["v1", "devices"]), (3...4).contains(steps.count), !steps[3].isEmpty,
      steps.count == 3 || steps[4] == "signals"
    {
      operations =
        steps.count == 3 ? ["GET": .getDevice, "PUT": .putDevice, "DELETE": .deleteDevice] : ["POST": .publishSignals]
      device = try Self.decoded(steps[3])
    } else {
      throw Problem(.notFound, "there is no such path; the paths are /v1/events and /v1/devices/{device}[/signals]")
    }
    guard let operation = operations[method == "HEAD" ? "GET" : method] else {
      throw Problem(allowedMethods: operations.keys)
    }
    self.operation = operation
  }

  private static func decoded(_ device: Substring) throws(Problem) -> String {
    guard let text = String(device).removingPercentEncoding else {
      throw Problem(.malformedRequest, "the device in the path is not UTF-8 in percent-encoding")
    }
    return text
  }
}
