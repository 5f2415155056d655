import Observing

/// The metrics of the local storage of a process: the audit store, the folder of snapshots, and the files of a gateway.
struct StorageMetrics {
  let free, size, store: MetricFamily
  static let (audit, snapshots, devices, access) = ("audit", "snapshots", "devices", "access")

  /// Adds the metrics to a registry.
  init(_ registry: MetricRegistry) {
    let labels = [
      MetricLabel(
        "storage", upTo: 4,
        "`audit` for the store, `snapshots` for their folder, `devices` for a view of them, `access` for a gateway's access records"
      )
    ]
    free = registry.gauge(
      "rouse_storage_free_bytes", labels, help: "Free bytes of the file system that holds a storage of the process",
      advice:
        "Falling towards 0: make room, or lower audit.storeMegabytesMax. A store without room keeps the audit back, and a gateway without room for `access` refuses changes of devices."
    )
    size = registry.gauge(
      "rouse_storage_size_bytes", labels, help: "Size of that file system, for users without privileges",
      advice: "Less than a tenth of it free: find out what else grows there.")
    store = registry.gauge(
      "rouse_audit_store_bytes", help: "Size of the audit store on the disk, its write-ahead log included",
      advice:
        "Above audit.storeMegabytesMax: the retention does not keep up, or a long question keeps the log from shrinking."
    )
  }

  /// Reads the sizes.
  ///
  /// - Parameter places: The places that the process uses.
  func show(_ places: StoragePlaces) {
    let paths = [
      (Self.audit, places.store), (Self.snapshots, places.snapshots), (Self.devices, places.devices),
      (Self.access, places.access),
    ]
    let rooms = paths.compactMap { name, path in path.flatMap { FileSystemRoom(of: $0) }.map { (name, $0) } }
    free.replace(with: rooms.map { ([$0.0], Double($0.1.freeBytes)) })
    size.replace(with: rooms.map { ([$0.0], Double($0.1.totalBytes)) })
    let bytes = places.store.flatMap { FileSystemRoom.databaseBytes($0) }
    store.replace(with: bytes.map { [([], Double($0))] } ?? [])
  }
}

/// The places of the local storage of a process.
public struct StoragePlaces: Sendable, Equatable {
  /// The path of the audit store; nil if the process has none.
  public var store: String?
  /// The folder of snapshots; nil if the process keeps none.
  public var snapshots: String?
  /// The path of the view of devices that the process keeps; nil if it keeps none.
  public var devices: String?
  /// The path of the gateway's access records; nil if the process keeps none.
  public var access: String?

  /// Names the places.
  ///
  /// - Parameters:
  ///   - store: The path of the audit store; nil if the process has none.
  ///   - snapshots: The folder of snapshots; nil if the process keeps none.
  ///   - devices: The path of the view of devices that the process keeps; nil if it keeps none.
  ///   - access: The path of the gateway's access records; nil if the process keeps none.
  public init(store: String? = nil, snapshots: String? = nil, devices: String? = nil, access: String? = nil) {
    self.store = store
    self.snapshots = snapshots
    self.devices = devices
    self.access = access
  }
}
