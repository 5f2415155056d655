public import Domain

/// Questions of the owner of a planner to its fleet.
extension Planner {
  /// The number of devices, including forgotten ones that are kept for their ledgers.
  public var deviceCount: Int { fleet.registry.deviceCount }

  /// The number of events that `prefetch` looks up at once.
  public static let prefetchMax = Fleet.prefetchMax

  /// Asks the processor to load into its caches what the next events will look up. It changes no state.
  ///
  /// The tables of a large fleet are larger than the caches, so planning an event that reaches few devices mostly waits for
  /// memory: index, key, subscriber, instance and device, each look-up after the one before. Here each step is made for
  /// several events at once, so that their waits overlap. The last step waits for nothing: what it asks for arrives while the first events
  /// are planned.
  /// - Parameter hashes: The hashes of the next events; those beyond `prefetchMax` are ignored.
  public borrowing func prefetch(_ hashes: Span<EventHashes>) { fleet.prefetch(hashes) }

  /// The key of its hashes.
  public var hashKey: HashKey { fleet.hashKey }

  /// Returns one decision of the last step.
  /// - Parameters:
  ///   - index: The index of the decision, below `PlannerOutput.decisionCount`.
  ///   - output: The output of the last step.
  public func decision(_ index: Int, of output: PlannerOutput) -> Decision { fleet.decision(index, of: output) }

  /// Returns one command of the last step.
  /// - Parameters:
  ///   - index: The index of the command, below `PlannerOutput.commandCount`.
  ///   - output: The output of the last step.
  public func command(_ index: Int, of output: PlannerOutput) -> Command { fleet.command(index, of: output) }

  /// Returns the name of a kind. A kind never changes its name.
  ///
  /// - Parameter kind: A kind of a decision of this planner.
  package func name(of kind: KindSlot) -> Identifier { fleet.rules[kind].name }

  /// Returns the kind of an instance.
  ///
  /// - Parameter instance: An instance that a command of the last step charged.
  package func kind(of instance: InstanceSlot) -> KindSlot { fleet.registry.instances[instance].kind }

  // MARK: State

  /// Hands over every record of the state that changed since the last call. The records hold the state after the last
  /// `advance`, in an order that follows from the log alone.
  /// - Parameter body: Receives each record; a nil value removes the key.
  public mutating func takeChanges(_ body: StateRecordSink) { fleet.takeChanges(body) }

  /// Writes the next part of the state. The planner may process records between two calls. The walk does not return to a
  /// record that changes after it was written, so a complete state also needs the changes that `takeChanges` hands over
  /// after the walk begins.
  /// - Parameters:
  ///   - walk: The position of the walk, which is moved on.
  ///   - recordsMax: The approximate number of records to write.
  ///   - body: Receives each record; its value is never nil.
  /// - Returns: Whether the walk is at its end.
  public func writeState(from walk: inout StateWalk, recordsMax: Int, _ body: StateRecordSink) -> Bool {
    fleet.writeState(from: &walk, recordsMax: recordsMax, body)
  }

  /// The size of the state as the next `p/clock` states it.
  package var stateExtent: StateExtent { fleet.stateExtent }

  // MARK: Figures

  /// Returns the activities that run and that pushes do not update or end, in the order of slots. The system has ended every
  /// activity that is older than eight hours, so those are not returned. It reads every instance with
  /// a push token of its own.
  public func zombies() -> [Zombie] { fleet.zombies() }

  /// Continues a sweep with its next slice. Changes nothing in the planner.
  ///
  /// - Parameters:
  ///   - sweep: The sweep, which belongs to this planner.
  ///   - instant: The present instant, for the ages of what is wrong. Log time counts if it is later.
  /// - Returns: The figures if the sweep is complete, so that the next call begins another one; nil if it goes on.
  package func sweep(_ sweep: inout ScreenSweep, at instant: Timestamp) -> ScreenFigures? {
    precondition(isIdle, "a sweep sees whole records only")
    return fleet.sweep(&sweep, at: instant)
  }

  /// Takes the counts of what has ended since the last call, by kind. No decision depends on them.
  ///
  /// - Parameter body: Receives the name of a kind and its counts. Kinds without counts are left out.
  package mutating func takeOutcomes(_ body: (Identifier, OutcomeCounts) -> Void) {
    let kinds = fleet.rules.kinds
    fleet.outcomes.take { body(kinds[$0.index].name, $1) }
  }

  /// Returns the number of registrations since the last call that were passed over, because a newer one is known.
  package mutating func takeOutdatedRegistrations() -> Int { fleet.outcomes.takeOutdatedRegistrations() }

  /// Returns the number of instances that were registered of a kind that no policy names, after `PlannerBounds.kindsMax` kinds, since
  /// the last call.
  package mutating func takeInstancesOfOtherKinds() -> Int { fleet.outcomes.takeInstancesOfOtherKinds() }

  /// Returns the number of failed commands since the last call whose charges were not given back, because the device or the app had too
  /// many before.
  package mutating func takeRefusedRefunds() -> Int { fleet.outcomes.takeRefusedRefunds() }

  /// The counts of everything in the planner that could grow with traffic. Taking the census reads every slot.
  public var census: PlannerCensus { fleet.census }

  /// The sizes of the planner's tables.
  public var sizes: PlannerSizes { fleet.sizes }

  /// The number of instances that are registered now. It reads every slot.
  public var instanceCount: Int { fleet.instanceCount }

  /// The bytes that the tables of devices, instances, interests, subjects and waiting causes take in memory. It does not count
  /// kinds, apps and zones, which are few, nor the overhead of the allocator.
  public var tableBytes: Int { fleet.tableBytes }

  /// The number of pairs of an event and an instance that wait for a final decision.
  public var pendingCount: Int { fleet.pending.causes.liveCount }
}
