import Mustache

/// The templates of the pages, which are compiled into the program.
enum PageTemplates {
  private static let library: MustacheLibrary = {
    let texts: [(String, [UInt8])] = [
      ("layout", PackageResources.layout_mustache), ("section", PackageResources.section_mustache),
      ("table", PackageResources.table_mustache), ("form", PackageResources.form_mustache),
      ("words", PackageResources.words_mustache), ("node", PackageResources.node_mustache),
    ]
    var library = MustacheLibrary()
    for (name, bytes) in texts {
      do {
        try library.register(String(decoding: bytes, as: UTF8.self), named: name)
      } catch {
        preconditionFailure("the template \(name) is part of the program and must be one: \(error)")
      }
    }
    return library
  }()

  /// Returns the text that a template makes of values.
  ///
  /// - Parameters:
  ///   - name: The name of a template.
  ///   - values: The values.
  static func render(_ name: String, _ values: PageValues) -> String {
    guard let text = library.render(values, withTemplate: name) else {
      preconditionFailure("there is no template \(name)")
    }
    return text
  }
}
