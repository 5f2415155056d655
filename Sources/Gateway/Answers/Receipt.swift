import JSON
import Serving

/// The places of records that a broker has acknowledged.
struct Receipt: Sendable {
  /// The place of a record.
  struct WrittenPlace: Sendable, Equatable {
    var partition: Int32
    var offset: Int64
  }

  /// The topic of all records.
  var topic: String
  /// The places, in the order of the request.
  var places: [WrittenPlace]

  var answer: HTTPAnswer {
    var json = JSONWriter()
    json.object { json in
      json.array("records", places) { place, json in
        json.object { json in
          json.member("topic", topic)
          json.member("partition", place.partition)
          json.member("offset", place.offset)
        }
      }
    }
    return HTTPAnswer(status: 202, contentType: "application/json", body: json.bytes + [UInt8(ascii: "\n")])
  }
}
