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
    let (device, receipt) = (command.device, TimeSpan.seconds(Int64(DeviceModel.receiptSeconds.value)))
    var answer = model.random("answer", device, command.command)
    course.isTaken = answer.unit() >= DeviceModel.activityPushesRefused.value
    guard let subject = command.subject else {
      if !course.isTaken { course.token = opening(after: command, zone).map { $0 + receipt } }
      return course
    }
    if course.isTaken { course.isShown = showsStart(device, at: command.at) }
    var wakes = model.random("token", device, command.command)
    let isWoken = course.isTaken && wakes.unit() < DeviceModel.startsThatWakeTheApp.value
    course.token = isWoken ? receipt : opening(after: command, zone).map { $0 + receipt }
    course.removal = firstLook(after: command, zone) { look in
      var removes = model.random("removes", device, subject, "\(look)")
      return removes.unit() < DeviceModel.looksThatRemoveAnActivity.value
    }
    return course
  }

  /// Counts a start, and returns whether the device shows it.
  private mutating func showsStart(_ device: Identifier, at time: Timestamp) -> Bool {
    shown[device, default: []].removeAll { time - $0 >= .hours(24) }
    guard shown[device, default: []].count < Int(DeviceModel.startsPerDay.value) else { return false }
    shown[device, default: []].append(time)
    return true
  }

  /// Returns the time from a push until a person next opens the app; nil if that is after the life of an activity.
  private func opening(after command: Command, _ zone: String) -> TimeSpan? {
    firstLook(after: command, zone) { model.opensApp(device: command.device, look: $0) }
  }

  private func firstLook(after command: Command, _ zone: String, where matches: (Int64) -> Bool) -> TimeSpan? {
    let from = command.at.microseconds
    let looks = looks.looks(
      at: command.device, zone: zone, from: from, to: from + ModelledActivities.life.microseconds)
    return looks.first(where: matches).map { TimeSpan(microseconds: $0 - from) }
  }
}
