import Foundation
import Policies

/// The events and the policy that come with the demo.
struct DemoResources {
  let policy: PolicyDocument
  let events: String
  let day = "8 March 2013, New York: EWR, JFK, LGA"

  /// - Parameter path: a policy file to use instead of the demo's own.
  /// - Throws: ``Failure`` when the files are not in the program's folder, and what reading the policy throws.
  init(policy path: String?) throws {
    guard
      let events = Bundle.module.path(
        forResource: "flights-nyc-2013-03-08", ofType: "jsonl.gz", inDirectory: "Resources"),
      let own = Bundle.module.path(forResource: "flights.policy", ofType: "yaml", inDirectory: "Resources")
    else {
      throw Failure("the demo's files are not beside the program; keep rouse_rouse.resources in the same directory")
    }
    self.events = events
    policy = try PolicyFile.document(path ?? own)
  }
}
