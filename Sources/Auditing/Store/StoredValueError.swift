/// The failure to read a stored row: the file is damaged, or another version of the program wrote it.
struct StoredValueError: Error {
  /// The cause, worded to follow the words "the store": `lacks kind number 7`.
  var reason: String
}
