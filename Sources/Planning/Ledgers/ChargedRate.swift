package import Domain

/// A rate that the pushes of reloads draw on. The numbers are part of the state records.
package enum ChargedRate: UInt8, CaseIterable {
  /// The device's rate of WidgetKit pushes.
  case widgetPushes = 0
  /// The device's rate of background pushes.
  case backgroundPushes = 1
  /// The rate of pushes to one control.
  case controlPushes = 2

  /// The traits of a rate. This is the one place that lists them.
  package struct Traits {
    /// The ledger to which its pushes are charged. The limit of the rate is that of the ledger (`BudgetProfile.rates(of:)`).
    package let ledger: Command.Ledger
    /// The surface of its commands.
    package let surface: Surface
    /// Whether the instances of a device share it. If not, each instance has the rate for itself.
    package let isShared: Bool
  }

  /// The traits of this rate.
  package var traits: Traits {
    switch self {
    case .widgetPushes: Traits(ledger: .device, surface: .widget, isShared: true)
    case .backgroundPushes: Traits(ledger: .background, surface: .background, isShared: true)
    case .controlPushes: Traits(ledger: .control, surface: .control, isShared: false)
    }
  }
}
