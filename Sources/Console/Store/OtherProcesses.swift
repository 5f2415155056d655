package import Operating

/// The other processes of the installation, as the page about health shows them.
package protocol OtherProcesses: Sendable {
  /// Asks all of them at the same time, and waits for the answers. Called on a thread of its own; each answer is waited for some seconds at most.
  ///
  /// - Returns: The processes, in the order of their addresses.
  func ask() -> [OtherProcess]
}

/// A process that was asked for its status.
package struct OtherProcess: Sendable, Equatable {
  /// The address that was asked.
  package var address: String
  /// The status, or the reason why there is none.
  package var answer: ProcessStatus.StatusAnswer

  /// Names a process and its answer.
  package init(address: String, answer: ProcessStatus.StatusAnswer) {
    self.address = address
    self.answer = answer
  }
}
