public import ArgumentParser
public import Auditing

extension Top.Key: ExpressibleByArgument {}
