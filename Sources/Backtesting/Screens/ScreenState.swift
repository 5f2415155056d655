import Foundation
import Policies

/// One screen: the values that it shows, the values that are true, and how wrong it is.
///
/// Fields combine as d = 1 − ∏(1 − d_f). The product is kept as a sum of logarithms, with a count of the wrong fields, so
/// that a screen on which nothing is wrong is exactly right.
struct ScreenState {
  private let measures: [FieldDistance]
  private let fields: [Int]
  private(set) var truth: [DisplayedValue]
  private var shown: [DisplayedValue]
  /// The loss of each field: log(1 − d), or the mark 1 for a field that is wholly wrong, whose logarithm does not
  /// exist.
  private var losses: [Double]
  /// The sum of the losses of wrong fields and of news, without wholly wrong ones.
  private var sum = 0.0
  /// The number of wrong fields and news that are in `sum`.
  private var wrong = 0
  /// The number of wholly wrong fields and news.
  private var whollyWrong = 0
  /// The fields that changed since the last reload.
  private var touched: [Int] = []
  private var isTouched: [Bool]
  /// Whether news arrived since the last reload.
  private(set) var hasNews = false

  /// The mark of a wholly wrong field in `losses`.
  private static let wholly = 1.0

  /// Creates a screen that shows the truth.
  /// - Parameters:
  ///   - measures: The distances of the kind's displayed fields.
  ///   - fields: The displayed field at each place, as a place in `measures`.
  ///   - truth: The value of each field.
  init(measures: [FieldDistance], fields: [Int], truth: [DisplayedValue]) {
    self.measures = measures
    self.fields = fields
    self.truth = truth
    shown = truth
    losses = Array(repeating: 0, count: truth.count)
    isTouched = Array(repeating: false, count: truth.count)
  }

  /// Creates the screen of an instance at the beginning of the log.
  init(_ stream: ScreenStream) { self.init(measures: stream.measures, fields: stream.fields, truth: stream.start) }

  /// The degree to which the screen is wrong, 0…1; exactly 0 if it shows the truth.
  var distance: Double { whollyWrong > 0 ? 1 : wrong > 0 ? 1 - exp(sum) : 0 }

  /// The value that the screen shows of a field.
  func shown(_ field: Int) -> DisplayedValue { shown[field] }

  /// Takes a change of the truth, which the screen does not show until its next reload.
  mutating func take(_ change: ScreenChange.Content) {
    switch change {
    case .value(let field, let value):
      truth[field] = value
      if !isTouched[field] {
        isTouched[field] = true
        touched.append(field)
      }
      drop(losses[field])
      let distance = measures[fields[field]](shown: shown[field], truth: value)
      losses[field] = Self.loss(distance)
      add(losses[field])
    case .news(let relevance):
      hasNews = true
      add(Self.loss(relevance))
    }
    if wrong == 0 { sum = 0 }
  }

  /// Reloads the screen, which then shows the truth.
  mutating func reload() {
    for field in touched {
      shown[field] = truth[field]
      losses[field] = 0
      isTouched[field] = false
    }
    touched.removeAll(keepingCapacity: true)
    sum = 0
    wrong = 0
    whollyWrong = 0
    hasNews = false
  }

  private static func loss(_ distance: Double) -> Double {
    distance >= 1 ? wholly : distance <= 0 ? 0 : log1p(-distance)
  }

  private mutating func add(_ loss: Double) {
    if loss == Self.wholly {
      whollyWrong += 1
    } else if loss < 0 {
      wrong += 1
      sum += loss
    }
  }

  private mutating func drop(_ loss: Double) {
    if loss == Self.wholly {
      whollyWrong -= 1
    } else if loss < 0 {
      wrong -= 1
      sum -= loss
    }
  }
}
