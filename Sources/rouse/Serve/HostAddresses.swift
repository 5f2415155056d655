import Foundation

/// Finds the addresses of hosts.
enum HostAddresses {
  /// Returns the addresses that a host name has now, in order and each once: those of IPv4 or, if it has none, those of IPv6, because a process
  /// that has both is one process. It asks the system's resolver once, and waits as long as that does.
  ///
  /// - Parameter host: A name, or an address, which has itself.
  /// - Returns: None if there is none, or if the resolver does not answer.
  static func find(_ host: String) -> [String] {
    for family in [AF_INET, AF_INET6] {
      let found = find(host, family)
      if !found.isEmpty { return found.sorted() }
    }
    return []
  }

  private static func find(_ host: String, _ family: Int32) -> Set<String> {
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = family
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    // POSIX: the list is the caller's until it is freed, and each element points to an address that lives as long.
    guard unsafe getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
    defer { unsafe freeaddrinfo(first) }
    var found = Set<String>()
    var next = unsafe first
    while let info = unsafe next {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      // Digits alone: the name of an address would be another question to the resolver.
      let status = unsafe getnameinfo(
        info.pointee.ai_addr, info.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
      if status == 0 {
        found.insert(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
      }
      unsafe next = info.pointee.ai_next
    }
    return found
  }
}
