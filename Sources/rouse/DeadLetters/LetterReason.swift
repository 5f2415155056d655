import ArgumentParser
import Domain
import Operating

/// The reason code of dead letters, as `--reason` takes it. A code that this release does not know is taken, because a newer one may
/// have written the letters.
struct LetterReason: ExpressibleByArgument {
  /// The code, as it was given.
  let code: String

  /// Takes any text.
  init(argument: String) { code = argument }

  /// The codes that this release knows, or the nearest one, for a code that it does not know and that no letter has; nil for a known
  /// code.
  var hint: PrintableText? {
    let known = DeadLetterQueue.reasons
    if known.contains(code) { return nil }
    if let near = NearestName.of(code, among: known) { return "did you mean \(near)?" }
    return "the known reasons are \(known.joined(separator: ", "))"
  }
}
