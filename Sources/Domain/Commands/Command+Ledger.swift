extension Command {
  /// A kind of ledger. Each instance, device or app has its own ledger of the kinds that apply to it.
  public enum Ledger: String, Sendable, CaseIterable {
    case instance, device, background, control, activity, start, app
  }
}

extension Command.Ledger {
  /// The thing that a ledger belongs to. Its id is the `owner` of a charge.
  public enum Owner: Sendable {
    case instance, device, app
  }

  /// The traits of a kind of ledger. This is the one place that lists them.
  public struct Traits: Sendable {
    /// The number of the ledger in files. Never reused for another ledger.
    public let number: UInt8
    /// The thing that each ledger of this kind belongs to.
    public let owner: Owner
    /// The pushes that the ledger counts, in a few words.
    public let meaning: String
  }

  /// The traits of this kind of ledger.
  public var traits: Traits {
    switch self {
    case .instance: Traits(number: 1, owner: .instance, meaning: "reloads of one widget in a day")
    case .device: Traits(number: 2, owner: .device, meaning: "WidgetKit pushes to one device")
    case .background: Traits(number: 3, owner: .device, meaning: "background pushes to one device")
    case .control: Traits(number: 5, owner: .instance, meaning: "pushes to one control")
    case .activity: Traits(number: 6, owner: .instance, meaning: "pushes of priority 10 to one Live Activity")
    case .start: Traits(number: 7, owner: .device, meaning: "starts of Live Activities by push on one device")
    case .app: Traits(number: 4, owner: .app, meaning: "pushes of one app in a UTC day")
    }
  }
}

extension Command.Ledger: NumberedCode {
  /// The cases by their numbers; nil for a number of no case.
  public static let byNumber = casesByNumber()

  /// The number that stands for this ledger in files. Never reused for another ledger.
  public var number: UInt8 { traits.number }
}
