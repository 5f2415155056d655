import Glibc
import NIOCore

/// Bounds the connections of a server. At the bound, the oldest connection without a complete head gives way to a new one; if there is none, new
/// ones stay in the system's queue until a connection ends. Belongs to the event loop of the listening socket.
final class ConnectionLimit: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel
  typealias OutboundIn = Never

  private let connections: OpenConnections
  private var isWaiting = false
  private var context: ChannelHandlerContext?

  /// The time without new connections after the system has refused one.
  private static let refusalPause = TimeAmount.seconds(1)

  init(_ connections: OpenConnections) { self.connections = connections }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    let this = NIOLoopBound(self, eventLoop: context.eventLoop)
    let loop = context.eventLoop
    connections.whenRoom { loop.execute { this.value.readIfWaiting() } }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    connections.whenRoom(nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let channel = unwrapInboundIn(data)
    connections.add(channel)?.close(promise: nil)
    channel.closeFuture.whenComplete { [connections] _ in connections.remove(channel) }
    context.fireChannelRead(data)
  }

  func read(context: ChannelHandlerContext) {
    isWaiting = true
    readIfWaiting()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Without a free descriptor, the system would refuse the same connection again and again.
    if let code = (error as? IOError)?.errnoCode, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) {
      let channel = context.channel
      // An option of a channel that has ended is not set, and then nothing is read either.
      _ = channel.setOption(.autoRead, value: false)
      context.eventLoop.scheduleTask(in: Self.refusalPause) { _ = channel.setOption(.autoRead, value: true) }
    }
    context.fireErrorCaught(error)
  }

  private func readIfWaiting() {
    guard isWaiting, connections.takesMore else { return }
    isWaiting = false
    context?.read()
  }
}
