/// The keys of `rouse.state`: a letter, a slash, a name.
///
///     d/<device>   a device with its instances, their ledgers and the causes that wait
///     k/<kind>     the curve and the price level learnt for a kind
///     a/<app>      the ledger of an app
///     n/<number>   a chunk of notes about subjects (`NoteLog`); the number is hexadecimal
///     m/<hash>     one entry of the subject memory, in local snapshots only; the hash is hexadecimal
///     e/<n>/<key>  a further piece of the record with that key (`SplitRecord`)
///     p/policy     the policy document in force
///     p/clock      log time and the counters of the planner
///     p/position   the position in the log, which the planner's owner writes last in each transaction
enum StateKey {
  static let policy = Array("p/policy".utf8)
  static let clock = Array("p/clock".utf8)
}
