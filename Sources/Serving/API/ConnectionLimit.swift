import NIOCore
import Synchronization

/// Bounds the connections of a server: beyond the bound it takes no more from the system's queue until one ends. Belongs to the event
/// loop of the listening socket.
final class ConnectionLimit: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel
  typealias OutboundIn = Never

  private let connections: OpenConnections
  private var isWaiting = false
  private var context: ChannelHandlerContext?

  init(_ connections: OpenConnections) { self.connections = connections }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let channel = unwrapInboundIn(data)
    connections.add(channel)
    let this = NIOLoopBound(self, eventLoop: context.eventLoop)
    let loop = context.eventLoop
    channel.closeFuture.whenComplete { [connections] _ in
      connections.remove(channel)
      loop.execute { this.value.readIfWaiting() }
    }
    context.fireChannelRead(data)
  }

  func read(context: ChannelHandlerContext) {
    if connections.isFull {
      isWaiting = true
    } else {
      context.read()
    }
  }

  private func readIfWaiting() {
    guard isWaiting, !connections.isFull else { return }
    isWaiting = false
    context?.read()
  }
}

/// The open connections of a server. May be used from any thread.
final class OpenConnections: Sendable {
  private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])
  private let connectionsMax: Int

  init(connectionsMax: Int) { self.connectionsMax = connectionsMax }

  /// The number of open connections.
  var count: Int { channels.withLock { $0.count } }

  /// Whether no further connection is to be taken.
  var isFull: Bool { count >= connectionsMax }

  /// All open connections.
  var all: [any Channel] { channels.withLock { Array($0.values) } }

  func add(_ channel: any Channel) { channels.withLock { $0[ObjectIdentifier(channel)] = channel } }

  func remove(_ channel: any Channel) { channels.withLock { $0[ObjectIdentifier(channel)] = nil } }
}
