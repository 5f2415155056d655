/// The failure to read a stored row: the file is damaged, or another version of the program wrote it.
struct StoredValueError: Error {
  /// The cause, as the rest of a sentence that begins with the store.
  var reason: String
}
