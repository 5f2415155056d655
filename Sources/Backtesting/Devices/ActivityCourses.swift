import Domain
import Replay

/// The fates of pushes to the Live Activities of modelled devices. Devices of the trusting model show and register all.
struct ActivityCourses {
  private let model: DeviceModel
  private let looks: LookModel
  /// For each device, the times of the starts that it has shown within a day.
  private var shown: [Identifier: [Timestamp]] = [:]

  /// Prepares the fates.
  /// - Parameters:
  ///   - model: The model that draws.
  ///   - looks: The looks at the devices.
  init(_ model: DeviceModel, looks: LookModel) {
    self.model = model
    self.looks = looks
  }

  /// Draws the fate of a push.
  /// - Parameters:
  ///   - command: The command of the push. The times of commands must not fall from call to call.
  ///   - zone: The IANA id of the time zone of its device.
  mutating func course(of command: Command, zone: String) -> ModelledActivities.Course {
    var course = ModelledActivities.Course()
    guard model.hasBudgets else { return course }
    course.isReported = true
    // The draws depend on what is pushed when, not on ids of commands: these differ between policies that are compared.
    let (device, time) = (command.device, Identifier("\(command.at.microseconds)"))
    var answer = model.random("answer", device, command.serves.first?.kind ?? "", time)
    course.isTaken = answer.unit() >= DeviceModel.activityPushesRefused.value
    guard let subject = command.subject else {
      if !course.isTaken { course.token = opening(after: command, zone, within: ModelledActivities.life) }
      return course
    }
    guard course.isTaken else {
      course.token = opening(after: command, zone, within: Self.startTokenLife)
      return course
    }
    course.isShown = showsStart(device, at: command.at)
    var wakes = model.random("token", device, subject, time)
    if wakes.unit() >= DeviceModel.startsThatWakeTheApp.value {
      course.token = opening(after: command, zone, within: ModelledActivities.life)
    }
    course.removal = firstLook(after: command, zone, within: ModelledActivities.life) { look in
      var removes = model.random("removes", device, subject, "\(look)")
      return removes.unit() < DeviceModel.looksThatRemoveAnActivity.value
    }
    return course
  }

  /// The time for which the model looks for the next opening of an app whose push-to-start token is dead. Whoever does not open an app
  /// for a month starts nothing any more.
  private static let startTokenLife = TimeSpan.hours(30 * 24)

  /// Counts a start, and returns whether the device shows it.
  private mutating func showsStart(_ device: Identifier, at time: Timestamp) -> Bool {
    shown[device, default: []].removeAll { time - $0 >= .hours(24) }
    guard shown[device, default: []].count < Int(DeviceModel.startsPerDay.value) else { return false }
    shown[device, default: []].append(time)
    return true
  }

  /// Returns the time from a push until the app has registered a token after a person next opened it; nil if nobody does in time.
  private func opening(after command: Command, _ zone: String, within time: TimeSpan) -> TimeSpan? {
    let look = firstLook(after: command, zone, within: time) { model.opensApp(device: command.device, look: $0) }
    return look.map { $0 + ModelledActivities.soon }
  }

  private func firstLook(
    after command: Command, _ zone: String, within time: TimeSpan, where matches: (Int64) -> Bool
  ) -> TimeSpan? {
    let (start, end) = (command.at.microseconds, command.at.microseconds + time.microseconds)
    var from = start
    while from < end {
      let to = min(end, from + LocalDays.day)
      let looks = looks.looks(at: command.device, zone: zone, from: from, to: to)
      if let look = looks.first(where: matches) { return TimeSpan(microseconds: look - start) }
      from = to
    }
    return nil
  }
}
