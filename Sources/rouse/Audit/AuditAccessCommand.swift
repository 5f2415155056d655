import ArgumentParser
import Auditing
import Domain

/// Lists who changed something, looked at the history of a device, or was refused, over HTTP.
struct AuditAccessCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "access",
    abstract: "List who looked at devices, changed something, or was refused, over HTTP; the newest first.",
    discussion: """
      The role console writes a record before each such answer goes out. The records are in a file beside the store, whose name ends \
      with .access. They have the id of the key, which rouse keys list shows, or the subject of the token, and the address of the other end of the connection: that \
      of the proxy, if there is one.

      A gateway records changes of devices: beside its view of devices, which --store then names, or in the file of gateway.accessFile, \
      which --file names.

      Attempts that were refused are there with the reason: noKey, unknownKey, expiredKey, refusedToken, endedSession, missingRole, wrongFormToken, \
      otherSite; at a gateway otherApp and otherSource, too. Those of one key, operation, client and reason within a minute are one record with their number, which has the time \
      of the last one and comes a second or two late.

      EXAMPLE
        rouse audit access --store audit.sqlite --device device-0000001
        rouse audit access --store audit.sqlite --operation applyPolicy \\
          --from 2026-11-20T00:00:00Z
        rouse audit access --store audit.sqlite --refused
        rouse audit access --file gateway.access --operation deleteDevice
      """)

  @Option(help: "Only records of the key with this id, or of the subject of tokens.")
  var key: Identifier?
  @Option(help: ArgumentHelp("Only records of this operation, such as getTimeline.", valueName: "name"))
  var operation: Identifier?
  @Option(help: "Only records about this device.")
  var device: Identifier?
  @Option(help: "Only records about this event.")
  var event: Identifier?
  @Flag(help: "Only attempts that were refused.")
  var refused = false
  @OptionGroup var limit: LimitOption
  @OptionGroup var time: TimeRangeOptions
  @Option(
    help: ArgumentHelp("The audit store, or a gateway's view of devices; the records are beside it.", valueName: "file")
  )
  var store: String?
  @Option(help: ArgumentHelp("Instead of --store: the file of access records itself.", valueName: "file"))
  var file: String?
  @OptionGroup var output: FormatOption

  func validate() throws {
    guard (store == nil) != (file == nil) else { throw ValidationError("name --store or --file, one of them") }
  }

  func run() throws {
    guard let path = file ?? store.map({ AccessStore.path(besides: $0) }) else { return }
    guard Files.exists(path) else {
      throw Failure(
        "no access records at \(path); the role console makes them beside the store that --store names, and the role gateway in gateway.accessFile or beside gateway.devicesView"
      )
    }
    var filter = AccessFilter()
    (filter.key, filter.operation, filter.device, filter.event) = (key, operation, device, event)
    filter.range = time.range
    filter.isRefused = refused ? true : nil
    let records = try AccessStore.openToRead(path: path).newest(filter, limit: limit.limit)
    switch output.format {
    case .text: try Output.print(AuditText.render(records))
    case .json: try Output.print(data: AuditJSON.render(records) + "\n")
    }
    if records.isEmpty { Words.say("no such record") }
  }
}
