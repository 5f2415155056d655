/// The terms of one instance in a weighing: its price is calibrated by being asked for, once the weighing is applied.
struct InstanceTerms {
  let instance: InstanceSlot
  let price: PriceState
}
