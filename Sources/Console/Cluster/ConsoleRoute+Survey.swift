import Auditing
import Domain
import Installation
import JSON
import KafkaClient
import Keys
import Operating
import Serving

extension ConsoleRoute {
  /// The questions about topics and readers, as the page about health shows them.
  static let surveys = [
    ConsoleRoute("listTopics", "GET", "/v1/topics", role: .auditor, usesCluster: true) { request, context in
      let form = try askedForm(request)
      let (facts, at) = try context.clusterFacts { survey throws(KafkaError) in try survey.topics() }
      return QuestionAnswer {
        topics(facts, at)
      } table: {
        topicTable(facts)
      }.answer(form, name: "topics")
    },
    ConsoleRoute("listLag", "GET", "/v1/lag", role: .auditor, usesCluster: true) { request, context in
      let form = try askedForm(request)
      let (facts, at) = try context.clusterFacts { survey throws(KafkaError) in try survey.progress() }
      return QuestionAnswer {
        lag(facts, at)
      } table: {
        lagTable(facts)
      }.answer(form, name: "lag")
    },
  ]

  private static func topics(_ facts: ClusterFacts, _ at: Timestamp) -> String {
    var json = JSONWriter()
    json.object { json in
      json.member("at", "\(at)")
      json.member("brokers", facts.brokers)
      json.objects("topics", facts.topics.keys.sorted()) { name, json in
        json.member("topic", name)
        json.member("partitions", facts.topics[name]?.partitions.count ?? 0)
      }
      json.objects("differences", facts.problems) { problem, json in
        json.member("topic", problem.topic)
        json.member("what", problem.what)
        json.member("expected", problem.expected)
        json.member("found", problem.found)
      }
    }
    return json.text
  }

  /// Returns a row for each topic, and one for each difference from the plan.
  private static func topicTable(_ facts: ClusterFacts) -> AnswerTable {
    let topics: [[AnswerTable.Cell]] = facts.topics.keys.sorted().map { name in
      [.text(name), .integer(facts.topics[name]?.partitions.count ?? 0), .none, .none, .none]
    }
    return AnswerTable(
      ["topic", "partitions", "difference", "expected", "found"],
      topics + facts.problems.map { [.text($0.topic), .none, .text($0.what), .text($0.expected), .text($0.found)] })
  }

  private static func lag(_ facts: ClusterFacts, _ at: Timestamp) -> String {
    var json = JSONWriter()
    json.object { json in
      json.member("at", "\(at)")
      json.objects("partitions", facts.progress) { progress, json in
        json.member("topic", progress.partition.topic)
        json.member("partition", progress.partition.partition)
        json.member("role", progress.role.rawValue)
        json.member("oldest", progress.low)
        if let next = progress.next { json.member("next", next) }
        json.member("end", progress.high)
        guard progress.isKnown else { return }
        json.member("waiting", progress.waiting)
        json.member("lost", progress.lost)
        json.member("waitingSince", progress.waitingSince.map { "\(Timestamp(milliseconds: $0))" })
      }
    }
    return json.text
  }

  private static func lagTable(_ facts: ClusterFacts) -> AnswerTable {
    AnswerTable(
      ["topic", "partition", "role", "oldest", "next", "end", "waiting", "lost", "waitingSince"],
      facts.progress.map { progress in
        [
          .text(progress.partition.topic), .integer(Int(progress.partition.partition)), .text(progress.role.rawValue),
          .integer(Int(progress.low)), progress.next.map { .integer(Int($0)) } ?? .none, .integer(Int(progress.high)),
          progress.isKnown ? .integer(Int(progress.waiting)) : .none,
          progress.isKnown ? .integer(Int(progress.lost)) : .none,
          progress.waitingSince.map { .text("\(Timestamp(milliseconds: $0))") } ?? .none,
        ]
      })
  }
}
