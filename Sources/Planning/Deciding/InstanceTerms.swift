/// One instance in a weighing, with its price state after the weighing. Asking for a price calibrates it, and applying the
/// verdict stores the calibrated state.
struct InstanceTerms {
  let instance: InstanceSlot
  let price: PriceState
}
