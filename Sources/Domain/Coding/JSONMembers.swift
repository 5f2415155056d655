import JSON

/// Reads the members of one JSON object. Unknown members are ignored; a missing or wrong one is refused by path.
struct JSONMembers: JSONFieldCoder {
  /// The object.
  let node: JSONNode

  func text(
    _ key: StaticString, _ value: inout String, bytesMax: Int, expected: StaticString
  ) throws(DomainError) { value = try node.require(key, "\(expected)").text(bytesMax: bytesMax) }

  func text(_ key: StaticString, _ value: inout String?) throws(DomainError) { value = try node.textIfPresent(key) }

  func texts(_ key: StaticString, _ value: inout [Identifier], max: Int) throws(DomainError) {
    value = try node.list(key, max: max) { (element) throws(DomainError) in try element.identifier() }
  }

  func token(_ key: StaticString, _ value: inout String) throws(DomainError) {
    value = try node.require(key, JSONNode.tokenExpectation).token()
  }

  func token(_ key: StaticString, _ value: inout String?) throws(DomainError) {
    guard let member = node.optional(key) else { return }
    value = try member.token()
  }

  func version(_ key: StaticString, _ value: inout OSVersion) throws(DomainError) {
    let member = try node.require(key, OSVersion.expectation)
    guard member.kind == .string else { throw DomainError(member.wrongType(OSVersion.expectation)) }
    guard let version = OSVersion(member.stringIfAny ?? "") else {
      throw DomainError(member.wrongValue(OSVersion.expectation))
    }
    value = version
  }

  func choice<Value: RawRepresentable & CaseIterable>(
    _ key: StaticString, _ value: inout Value
  ) throws(DomainError) where Value.RawValue == String { value = try node.choice(key) }

  func choice<Value: RawRepresentable & CaseIterable>(
    _ key: StaticString, _ value: inout Value?
  ) throws(DomainError) where Value.RawValue == String {
    value = node.optional(key) == nil ? nil : try node.choice(key) as Value
  }

  func flag(_ key: StaticString, _ value: inout Bool) throws(DomainError) {
    value = try node.require(key, "a boolean").flag()
  }

  func flag(_ key: StaticString, _ value: inout Bool, default usual: Bool) throws(DomainError) {
    value = try node.flag(key, default: usual)
  }

  func number(_ key: StaticString, _ value: inout Double) throws(DomainError) { value = try node.number(key) }

  func count(_ key: StaticString, _ value: inout Int) throws(DomainError) {
    value = try node.require(key, "an integer").count()
  }

  func count(_ key: StaticString, _ value: inout Int?) throws(DomainError) {
    guard let member = node.optional(key) else {
      value = nil
      return
    }
    value = try member.count()
  }

  func instant(_ key: StaticString, _ value: inout Timestamp) throws(DomainError) { value = try node.instant(key) }

  func instant(_ key: StaticString, _ value: inout Timestamp?) throws(DomainError) {
    value = try node.instantIfPresent(key)
  }

  func object<Value: JSONFields>(_ key: StaticString, _ value: inout Value) throws(DomainError) {
    value = try Value(members: node.require(key, "an object"))
  }

  func optionalObject<Value: JSONFields & Equatable>(_ key: StaticString, _ value: inout Value) throws(DomainError) {
    if let member = node.optional(key) { value = try Value(members: member) }
  }

  func objects<Value: JSONFields>(_ key: StaticString, _ value: inout [Value]) throws(DomainError) {
    value = try node.list(key) { (element) throws(DomainError) in try Value(members: element) }
  }

  func optionalObjects<Value: JSONFields>(
    _ key: StaticString, _ value: inout [Value], max: Int
  ) throws(DomainError) {
    value = try node.listIfPresent(key, max: max) { (element) throws(DomainError) in try Value(members: element) }
  }

  func target(_ value: inout PushTarget) throws(DomainError) {
    value = try PushTarget(node) { (token) throws(DomainError) in try token.token() }
  }

  func request(_ key: StaticString, _ value: inout Command.APNs) throws(DomainError) {
    value = try Command.APNs(node.require(key, "an object"))
  }
}
