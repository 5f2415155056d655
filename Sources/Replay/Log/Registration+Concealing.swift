import Domain

extension Registration {
  /// Returns the registration with other push tokens.
  /// - Parameter conceal: Returns the token that stands for a push token.
  func replacingTokens(_ conceal: (String) -> String) -> Registration {
    var registration = self
    registration.tokens.widgets = tokens.widgets.map(conceal)
    registration.tokens.background = tokens.background.map(conceal)
    for place in controls.indices { registration.controls[place].token = conceal(controls[place].token) }
    for place in pushToStart.indices { registration.pushToStart[place].token = conceal(pushToStart[place].token) }
    for place in activities.indices {
      guard case .token(let token) = activities[place].address else { continue }
      registration.activities[place].address = .token(conceal(token))
    }
    return registration
  }
}
