/// The keys of `rouse.state`: a letter, a slash, a name.
///
///     d/<device>   a device with its instances, ledgers and what waits on them
///     k/<kind>     what a kind has learnt
///     a/<app>      the app's ledger
///     n/<number>   notes of the newest events of subjects, in hexadecimal chunks (see `NoteLog`)
///     m/<hash>     what is remembered of a subject, in local snapshots only
///     p/policy     the policy document in force
///     p/clock      log time and counters
///     p/position   written by the worker, last in each transaction
enum StateKey {
  static let policy = Array("p/policy".utf8)
  static let clock = Array("p/clock".utf8)
}
