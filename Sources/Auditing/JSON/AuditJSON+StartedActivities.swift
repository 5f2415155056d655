import Domain
import JSON

extension AuditJSON {
  static func write(_ started: StartedActivities, to json: inout JSONWriter) {
    json.member("starts", started.starts)
    json.member("omitted", started.omitted)
    json.member("tooNew", started.tooNew)
    json.objects("zombies", started.zombies) { zombie, json in
      json.member("device", zombie.device)
      json.member("subject", zombie.subject)
      json.member("kind", zombie.kind)
      json.time("since", zombie.since)
      json.member("command", zombie.command)
      json.member("decisionsSince", zombie.decisionsSince)
      json.member("cause", "neverRegistered")
    }
  }
}
