import Domain

extension Registration {
  /// Returns the registration with other push tokens.
  /// - Parameter replace: Returns the token that stands for a push token.
  func replacingTokens(_ replace: (String) -> String) -> Registration {
    // The letter case is not part of a token.
    func conceal(_ token: String) -> String { replace(token.lowercased()) }
    var registration = self
    registration.tokens.widgets = tokens.widgets.map { conceal($0) }
    registration.tokens.background = tokens.background.map { conceal($0) }
    for place in controls.indices { registration.controls[place].token = conceal(controls[place].token) }
    for place in pushToStart.indices { registration.pushToStart[place].token = conceal(pushToStart[place].token) }
    for place in activities.indices {
      guard case .token(let token) = activities[place].address else { continue }
      registration.activities[place].address = .token(conceal(token))
    }
    return registration
  }
}
