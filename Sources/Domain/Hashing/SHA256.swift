/// SHA-256 (FIPS 180-4), for the content hash of a policy and for the hashes of push tokens. Foundation has none on Linux, and a
/// cryptography package is not worth its build time for two identifiers. Do not use it to protect secrets in transit: it is not
/// written against an attacker who measures its time.
package enum SHA256 {
  /// Returns the 64 hexadecimal digits of the digest.
  package static func hexDigest(of bytes: [UInt8]) -> String { hexadecimal(digest(of: bytes)) }

  /// A key for keyed hashes, HMAC-SHA-256 (RFC 2104). Without the key nobody can tell from a hash which of several messages it stands
  /// for.
  package struct AuthenticationKey: Equatable, Sendable {
    /// The states after the block of the key, with which the inner and the outer hash begin.
    private let inner: [UInt32]
    private let outer: [UInt32]

    /// Creates a key.
    /// - Parameter key: The bytes of the key, at most 64.
    package init(_ key: [UInt8]) {
      precondition(key.count <= SHA256.blockBytes, "longer keys must be hashed first")
      let block = key + [UInt8](repeating: 0, count: SHA256.blockBytes - key.count)
      inner = SHA256.state(after: block.map { $0 ^ 0x36 })
      outer = SHA256.state(after: block.map { $0 ^ 0x5c })
    }

    /// Returns the 64 hexadecimal digits of the keyed hash of a message.
    package func hexAuthenticationCode(of message: [UInt8]) -> String {
      let hash = SHA256.bytes(of: SHA256.digest(of: message, from: inner, bytesBefore: SHA256.blockBytes))
      return SHA256.hexadecimal(SHA256.digest(of: hash, from: outer, bytesBefore: SHA256.blockBytes))
    }
  }

  /// The bytes of a block.
  private static let blockBytes = 64

  /// Returns the state after one block from the initial state.
  private static func state(after block: [UInt8]) -> [UInt32] {
    var state = initialState
    compress(&state, block, at: 0)
    return state
  }

  /// Returns the digest of a message.
  /// - Parameters:
  ///   - bytes: The message, or its rest.
  ///   - state: The state after the part before the rest.
  ///   - before: The number of bytes of that part, a multiple of `blockBytes`.
  private static func digest(
    of bytes: [UInt8], from state: [UInt32] = initialState, bytesBefore before: Int = 0
  ) -> [UInt32] {
    var state = state
    let message = padded(bytes, bytesBefore: before)
    for start in stride(from: 0, to: message.count, by: blockBytes) { compress(&state, message, at: start) }
    return state
  }

  private static func bytes(of words: [UInt32]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(words.count * 4)
    for word in words {
      for shift in stride(from: 24 as UInt32, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return bytes
  }

  private static func padded(_ bytes: [UInt8], bytesBefore before: Int) -> [UInt8] {
    var message: [UInt8] = []
    message.reserveCapacity(bytes.count + 2 * blockBytes)
    message += bytes
    message.append(0x80)
    while message.count % 64 != 56 { message.append(0) }
    let bits = UInt64(before + bytes.count) * 8
    for shift in stride(from: 56, through: 0, by: -8) {
      message.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    return message
  }

  /// Adds the block that begins at an offset of a message to a state.
  private static func compress(_ state: inout [UInt32], _ message: [UInt8], at start: Int) {
    var words = InlineArray<64, UInt32>(repeating: 0)
    for i in 0..<blockBytes { words[i / 4] = words[i / 4] << 8 | UInt32(message[start + i]) }
    for i in 16..<64 {
      let s0 = rotated(words[i - 15], 7) ^ rotated(words[i - 15], 18) ^ (words[i - 15] >> 3)
      let s1 = rotated(words[i - 2], 17) ^ rotated(words[i - 2], 19) ^ (words[i - 2] >> 10)
      words[i] = words[i - 16] &+ s0 &+ words[i - 7] &+ s1
    }
    let constants = roundConstants
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for i in 0..<64 {
      let s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
      let first = h &+ s1 &+ ((e & f) ^ (~e & g)) &+ constants[i] &+ words[i]
      let s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
      let second = s0 &+ ((a & b) ^ (a & c) ^ (b & c))
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
    }
    state[0] &+= a
    state[1] &+= b
    state[2] &+= c
    state[3] &+= d
    state[4] &+= e
    state[5] &+= f
    state[6] &+= g
    state[7] &+= h
  }

  private static func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }

  /// Returns eight hexadecimal digits for each word.
  private static func hexadecimal(_ words: [UInt32]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(words.count * 8)
    for word in words {
      for shift in stride(from: 28 as UInt32, through: 0, by: -4) { text.append(digits[Int(word >> shift & 15)]) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The fractional parts of the square roots of the first 8 primes.
  private static let initialState: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]

  /// The fractional parts of the cube roots of the first 64 primes.
  private static let roundConstants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}
