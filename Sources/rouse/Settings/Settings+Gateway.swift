import Auditing
import Domain
import Gateway
import Installation
import Pipeline
import Serving

extension Settings {
  /// Returns the settings of the gateway; nil if the process does not have the role.
  ///
  /// - Parameter pipeline: The settings of the pipeline.
  /// - Throws: `ValidationError` or ``Failure`` when the settings contradict one another.
  func gateway(_ pipeline: PipelineSettings) throws -> GatewaySettings? {
    guard roles.contains(.gateway) else { return nil }
    let text = textOrDefault(.gatewayListen)
    guard let address = HTTPAddress(text) else {
      throw refusal(.gatewayListen, "expected host:port such as 127.0.0.1:8080, found '\(text)'")
    }
    guard self.text(.gatewayKeys) != nil || self.text(.oidcIssuer) != nil || address.isLoopback else {
      throw refusal(
        .gatewayListen,
        "\(text) can be reached from other hosts, so the gateway needs keys: make a file with rouse keys create and name it with gateway.keys, let it take tokens with oidc.issuer, or listen on 127.0.0.1"
      )
    }
    var settings = GatewaySettings(
      listen: address,
      topics: GatewayTopics(
        events: try gatewayTopic(pipeline), devices: pipeline.topics.devices, signals: pipeline.topics.signals))
    settings.bounds = gatewayBounds
    settings.limits = gatewayLimits
    return settings
  }

  /// The bounds of what waits for the brokers.
  var gatewayBounds: RecordProducer.Bounds {
    var bounds = RecordProducer.Bounds()
    bounds.recordsMax = numberOrDefault(.gatewayRecordsMax)
    bounds.bytesMax = numberOrDefault(.gatewayMegabytesMax) << 20
    bounds.deliveryTime = .milliseconds(numberOrDefault(.gatewayDeliveryTimeout))
    return bounds
  }

  /// The bounds of the gateway's server.
  var gatewayLimits: HTTPServerLimits {
    var limits = HTTPServerLimits()
    limits.threads = numberOrDefault(.gatewayThreads)
    limits.bodyBytesMax = numberOrDefault(.gatewayBodyMax)
    limits.bodiesBytesMax = max(limits.bodyBytesMax, gatewayBounds.bytesMax)
    limits.connectionsMax = numberOrDefault(.gatewayConnectionsMax)
    limits.requestSeconds = numberOrDefault(.gatewayRequestTimeout)
    limits.idleSeconds = numberOrDefault(.gatewayIdleTimeout)
    return limits
  }

  /// The path of the gateway's access records: a file of their own, or one beside the view of devices; nil if there is neither.
  var gatewayAccessPath: String? {
    text(.gatewayAccess) ?? text(.gatewayDevicesView).map { AccessStore.path(besides: $0) }
  }

  /// The limits on the gateway's access records.
  var gatewayAccessLimits: AccessStore.RecordLimits {
    AccessStore.RecordLimits(
      ageMax: .hours(24 * Int64(numberOrDefault(.gatewayAccessDays))),
      recordsMax: numberOrDefault(.gatewayAccessRecords))
  }

  /// The records that each key, and each subject of tokens, may send a second; nil for any number.
  var gatewayRate: Int? {
    let rate = numberOrDefault(.gatewayRate)
    return rate == 0 ? nil : rate
  }

  /// The topic of the gateway's events: as set, else the only topic of events.
  private func gatewayTopic(_ pipeline: PipelineSettings) throws -> String {
    let known = pipeline.eventTopics
    let list = known.joined(separator: ", ")
    guard let topic = text(.gatewayTopic) else {
      guard let only = known.first, known.count == 1 else {
        throw refusal(.gatewayTopic, "name the one of topics.events that the gateway writes to: \(list)")
      }
      return only
    }
    guard known.contains(topic) else {
      throw refusal(
        .gatewayTopic,
        "\(topic) is none of topics.events, so intake would not read it: add it there, or name one of \(list)")
    }
    return topic
  }
}
