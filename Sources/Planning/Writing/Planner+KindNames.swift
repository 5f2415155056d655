package import Domain

extension Planner {
  /// Returns the name of a kind. A kind never changes its name.
  ///
  /// - Parameter kind: A kind of a decision of this planner.
  package func name(of kind: KindSlot) -> Identifier { rules[kind].name }

  /// Returns the kind of an instance.
  ///
  /// - Parameter instance: An instance that a command of the last step charged.
  package func kind(of instance: InstanceSlot) -> KindSlot { registry.instances[instance].kind }
}
