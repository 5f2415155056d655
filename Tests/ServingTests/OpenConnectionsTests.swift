import NIOCore
import NIOPosix
import Testing

@testable import Serving

@Suite("Open connections") struct OpenConnectionsTests {
  /// Runs a test with channels that are connected to nothing.
  private func withChannels(_ count: Int, _ body: ([any Channel]) -> Void) async throws {
    let bootstrap = DatagramBootstrap(group: .singletonMultiThreadedEventLoopGroup)
    var channels: [any Channel] = []
    for _ in 0..<count { channels.append(try await bootstrap.bind(host: "127.0.0.1", port: 0).get()) }
    body(channels)
    for channel in channels { try await channel.close() }
  }

  @Test("a connection that gives way before its address is known is not counted for the address")
  func addressOfAClosingOne() async throws {
    try await withChannels(4) { channels in
      let connections = OpenConnections(connectionsMax: 1, shareMax: 2)
      for channel in channels.dropLast() {
        #expect(connections.add(channel) == nil)
        #expect(connections.add(channels[3]) === channel)
        #expect(connections.set("192.0.2.1", of: channel) == nil, "it is closing")
        connections.remove(channel)
        connections.remove(channels[3])
      }
      #expect(connections.add(channels[0]) == nil && connections.set("192.0.2.1", of: channels[0]) == nil)
      #expect(connections.count == 1)
    }
  }

  @Test("an address that has more than its share loses its oldest idle connection")
  func share() async throws {
    try await withChannels(3) { channels in
      let connections = OpenConnections(connectionsMax: 8, shareMax: 2)
      for channel in channels { #expect(connections.add(channel) == nil) }
      connections.set(isBusy: true, channels[0])
      #expect(connections.set("192.0.2.1", of: channels[0]) == nil)
      #expect(connections.set("192.0.2.1", of: channels[1]) == nil)
      #expect(connections.set("192.0.2.1", of: channels[2]) === channels[1])
    }
  }
}
