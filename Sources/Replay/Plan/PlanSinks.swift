import Domain
import JSON
import LineFiles
import Planning

/// The output files of a plan. Files that are not named are not written.
struct PlanSinks: ~Copyable {
  private var decisions: LineWriter?
  private var commands: LineWriter?
  private var deadLetters: LineWriter?
  private var json = JSONWriter(reserving: 64 << 10)
  private var decisionWriter = DecisionWriter()

  /// Opens the files under temporary names.
  init(_ options: PlanOptions) throws(LineFileError) {
    if let path = options.decisions { decisions = try LineWriter(path: path) }
    if let path = options.commands { commands = try LineWriter(path: path, isPrivate: true) }
    if let path = options.deadLetters { deadLetters = try LineWriter(path: path, isPrivate: true) }
  }

  /// Writes the decisions and commands of one step.
  /// - Parameters:
  ///   - output: The output of the step.
  ///   - planner: The planner that made the output and has not begun another step.
  mutating func write(_ output: PlannerOutput, of planner: borrowing Planner) throws(LineFileError) {
    if decisions != nil {
      for index in 0..<output.decisionCount {
        json.reset()
        decisionWriter.write(index, of: output, by: planner, to: &json)
        try decisions?.append(json.bytes)
        try decisions?.endLine()
      }
    }
    if commands != nil {
      for index in 0..<output.commandCount {
        json.reset()
        decisionWriter.write(command: index, of: output, by: planner, to: &json)
        try commands?.append(json.bytes)
        try commands?.endLine()
      }
    }
  }

  /// Writes one refused line.
  mutating func write(_ line: RefusedLine) throws(LineFileError) {
    guard deadLetters != nil else { return }
    json.reset()
    line.encode(to: &json)
    try deadLetters?.append(json.bytes)
    try deadLetters?.endLine()
  }

  /// Completes the files and gives them their final names.
  mutating func close() throws(LineFileError) {
    try decisions?.close()
    try commands?.close()
    try deadLetters?.close()
  }
}
