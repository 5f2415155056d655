public import ArgumentParser
public import Domain

extension Identifier: ExpressibleByArgument {
  /// Takes an argument as it is. It names a thing only if the bytes are equal.
  public init?(argument: String) { self.init(argument) }
}
