import ArgumentParser
import Domain
import Replay

/// The options that name recorded looks.
struct ViewsOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Recorded looks: screen events {device, time, kind}, one a line, of kinds screen-on, screen-off, lock, unlock and \
      view. They replace the view curves of all policies. A device with recorded looks has its own curve, and the \
      planners receive its looks as signals.
      """, valueName: "file"))
  var views: String?
  @Option(help: ArgumentHelp("Time zone in which the hours of --views are counted.", valueName: "zone"))
  var viewsZone = "UTC"

  func validate() throws {
    if !TimeZoneNames.exists(viewsZone) {
      throw ValidationError("--views-zone: found \"\(viewsZone)\", expected an IANA zone such as Europe/Helsinki")
    }
  }

  /// Reads the file; nil without one.
  /// - Throws: `LineFileError` if it cannot be read; `ScreenEventsError` if a line is wrong or there is no look.
  func screens() throws -> ScreenEvents? { try views.map { try ScreenEvents(path: $0, zone: viewsZone) } }
}
