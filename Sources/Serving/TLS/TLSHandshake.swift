import NIOCore
import NIOTLS

/// Bounds the time of the handshake of a TLS connection. Belongs to the event loop of the connection.
///
///     added ──handshake completed──► removed
///        └──time over, server ends──► connection closed
final class TLSHandshake: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Never

  private let time: TimeAmount
  private var timer: Scheduled<Void>?

  /// Makes the bound.
  ///
  /// - Parameter time: The longest time of the handshake.
  init(_ time: TimeAmount) { self.time = time }

  func handlerAdded(context: ChannelHandlerContext) {
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // A handler that was removed passes nothing on.
    context.fireUserInboundEventTriggered(event)
    switch event {
    case TLSUserEvent.handshakeCompleted: context.pipeline.syncOperations.removeHandler(self, promise: nil)
    case is ChannelShouldQuiesceEvent: context.close(promise: nil)
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A client that does not speak TLS, or does not trust the certificate, or has left.
    context.close(promise: nil)
  }
}
