public import Observing

/// The metrics of a view of devices. This is the one place that describes them.
public struct DeviceViewMetrics: Sendable {
  let age, lag, records, signals, signalsLag: MetricFamily

  /// Adds the metrics to a registry.
  ///
  /// - Parameter registry: The registry.
  public init(_ registry: MetricRegistry) {
    age = registry.gauge(
      "rouse_devices_view_age_seconds",
      help:
        "Age of the view of devices: what was written before that is in it. Without a series: no view, or it is being filled",
      advice: "Above 60 s: the brokers do not answer, or the disk of the view is full. The log says which.")
    lag = registry.gauge(
      "rouse_devices_view_lag_records", help: "Records of rouse.devices that the view of devices has not read yet",
      advice: "Falling: it is being filled. Growing: look at the disk of the view.")
    records = registry.counter(
      "rouse_devices_view_records_total",
      [MetricLabel("outcome", upTo: 5, "`kept`, `older`, `forgotten` or `refused`")],
      help: "Records of rouse.devices that the view of devices has read",
      advice: "`refused`: intake makes dead letters of them. `older`: a registration with a newer `updatedAt` is known."
    )
    signals = registry.counter(
      "rouse_devices_view_signals_total",
      [MetricLabel("outcome", upTo: 4, "`kept`, `other`, `unknown` or `refused`")],
      help: "Records of rouse.signals that the view of devices has read",
      advice:
        "`kept`: looks and fetches; `other`: of other sorts. `unknown`: about devices that are not registered. `refused`: intake makes dead letters of them."
    )
    signalsLag = registry.gauge(
      "rouse_devices_view_signals_lag_records",
      help: "Records of rouse.signals that the view of devices has not read yet",
      advice: "Growing: the pages of devices show old looks. Look at the disk of the view.")
  }

  /// Sets the age.
  ///
  /// - Parameter seconds: The age; nil if the view never had everything.
  public func set(age seconds: Int?) { age.replace(with: seconds.map { [(labels: [], value: Double($0))] } ?? []) }
}
