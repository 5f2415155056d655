import NIOCore
import Synchronization

/// The open connections of a server, and those that give way to new ones. May be used from any thread.
///
///     new ──► idle ◄──answered── busy          idle ──bound reached, oldest──► closing ──► gone
///              └──head complete──►              └──────ends by itself───────────────────►
///
/// A connection without a complete head is idle. A silent stranger can hold nothing for longer than the others let him.
final class OpenConnections: Sendable {
  fileprivate struct Connection {
    let channel: any Channel
    /// The address of the client; nil until the connection is active.
    var address: String?
    /// The place in the line of idle connections; nil while the connection is busy or closing.
    var ticket: UInt64?
    var isClosing = false
  }

  fileprivate struct State {
    var connections: [ObjectIdentifier: Connection] = [:]
    var counts: [String: Int] = [:]
    /// The idle connections, the longest first. A place whose ticket is not that of its connection any more is void.
    var line: [(ticket: UInt64, id: ObjectIdentifier)] = []
    /// The number of void places at the beginning of the line.
    var voidCount = 0
    var idleCount = 0
    var closingCount = 0
    var lastTicket: UInt64 = 0
    var isFull = false
    var roomFollowed: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  private let connectionsMax: Int
  private let shareMax: Int

  /// The largest number of connections that are being closed, beside those that are open.
  /// - Beyond: further connections wait in the system's queue until these are closed.
  static let closingMax = 16

  /// Makes a list without connections.
  ///
  /// - Parameters:
  ///   - connectionsMax: The largest number of connections.
  ///   - shareMax: The largest number of connections of one address.
  init(connectionsMax: Int, shareMax: Int) {
    self.connectionsMax = connectionsMax
    self.shareMax = shareMax
  }

  /// The number of open connections.
  var count: Int { state.withLock { $0.connections.count } }

  /// All open connections.
  var all: [any Channel] { state.withLock { $0.connections.values.map(\.channel) } }

  /// Whether a further connection is to be taken. If not, the closure of ``whenRoom(_:)`` is called when that changes.
  var takesMore: Bool {
    state.withLock { state in
      state.isFull = !takesMore(state)
      return !state.isFull
    }
  }

  private func takesMore(_ state: State) -> Bool {
    guard state.connections.count < connectionsMax + Self.closingMax else { return false }
    return state.connections.count - state.closingCount < connectionsMax || state.idleCount > 0
  }

  /// Sets the closure that is called when there is room after there was none; nil for none.
  func whenRoom(_ body: (@Sendable () -> Void)?) { state.withLock { $0.roomFollowed = body } }

  /// Adds a connection, which is idle.
  ///
  /// - Returns: The connection that gives way to it and is to be closed; nil if there is room for both.
  func add(_ channel: any Channel) -> (any Channel)? {
    state.withLock { state in
      let isOver = state.connections.count - state.closingCount >= connectionsMax
      let oldest = isOver ? state.giveWay { _ in true } : nil
      let id = ObjectIdentifier(channel)
      state.connections[id] = Connection(channel: channel)
      state.becomeIdle(id)
      return oldest
    }
  }

  /// Notes the address of a connection.
  ///
  /// - Returns: The connection that is to be closed because the address has more than its share: the oldest idle one of the address, which may be
  ///   the new one; nil if it has not.
  func set(_ address: String, of channel: any Channel) -> (any Channel)? {
    state.withLock { state in
      let id = ObjectIdentifier(channel)
      // A connection may become active after it was chosen to give way.
      guard let connection = state.connections[id], !connection.isClosing else { return nil }
      state.connections[id]?.address = address
      state.counts[address, default: 0] += 1
      guard state.counts[address, default: 0] > shareMax else { return nil }
      return state.giveWay { $0.address == address }
    }
  }

  /// Notes that a connection has a complete head, or waits for one again.
  func set(isBusy: Bool, _ channel: any Channel) {
    change { state in
      let id = ObjectIdentifier(channel)
      if isBusy { state.becomeBusy(id) } else { state.becomeIdle(id) }
    }
  }

  /// Forgets a connection that has ended.
  func remove(_ channel: any Channel) {
    change { state in
      let id = ObjectIdentifier(channel)
      state.becomeBusy(id)
      guard let connection = state.connections.removeValue(forKey: id) else { return }
      if connection.isClosing { state.closingCount -= 1 } else { state.leave(connection.address) }
    }
  }

  /// Makes a change, and tells if there is room after it and there was none before.
  private func change(_ body: (inout State) -> Void) {
    let roomFollowed = state.withLock { state -> (@Sendable () -> Void)? in
      body(&state)
      guard state.isFull, takesMore(state) else { return nil }
      state.isFull = false
      return state.roomFollowed
    }
    roomFollowed?()
  }
}

extension OpenConnections.State {
  /// Puts a connection at the end of the line.
  fileprivate mutating func becomeIdle(_ id: ObjectIdentifier) {
    guard let connection = connections[id], connection.ticket == nil, !connection.isClosing else { return }
    lastTicket += 1
    connections[id]?.ticket = lastTicket
    idleCount += 1
    line.append((lastTicket, id))
    // Each connection stands in line once, so at least half of a longer line is void.
    guard line.count > 2 * connections.count + 64 else { return }
    line.removeAll { connections[$0.id]?.ticket != $0.ticket }
    voidCount = 0
  }

  /// Takes a connection out of the line.
  fileprivate mutating func becomeBusy(_ id: ObjectIdentifier) {
    guard connections[id]?.ticket != nil else { return }
    connections[id]?.ticket = nil
    idleCount -= 1
  }

  /// Takes the longest idle connection of some out of the line, and counts it no longer.
  fileprivate mutating func giveWay(_ isMeant: (OpenConnections.Connection) -> Bool) -> (any Channel)? {
    while voidCount < line.count, connections[line[voidCount].id]?.ticket != line[voidCount].ticket { voidCount += 1 }
    for place in line[voidCount...] {
      guard let connection = connections[place.id], connection.ticket == place.ticket, isMeant(connection) else {
        continue
      }
      becomeBusy(place.id)
      connections[place.id]?.isClosing = true
      closingCount += 1
      leave(connection.address)
      return connection.channel
    }
    return nil
  }

  /// Counts a connection of an address no longer.
  fileprivate mutating func leave(_ address: String?) {
    guard let address, let count = counts[address] else { return }
    counts[address] = count > 1 ? count - 1 : nil
  }
}
