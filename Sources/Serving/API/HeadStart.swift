import NIOCore

/// Tells a connection of HTTP/1.1 that bytes have arrived, so that the time of a head begins with its first byte. Belongs to the event loop of the
/// connection.
final class HeadStart: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let connection: NIOLoopBound<HTTPConnection>

  init(_ connection: HTTPConnection, eventLoop: any EventLoop) {
    self.connection = NIOLoopBound(connection, eventLoop: eventLoop)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    connection.value.bytesArrived()
    context.fireChannelRead(data)
  }
}
