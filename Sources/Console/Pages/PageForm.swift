/// A form on a page.
struct PageForm {
  /// The sorts of fields.
  enum FieldSort: String { case text, search, password, area, choice, hidden, file }

  /// A field.
  struct FormField {
    /// The name in the query or body.
    var name: String
    var label: String
    var sort = FieldSort.text
    /// The content.
    var value = ""
    /// A line that says what is expected; nil for none.
    var hint: String?
    /// The values to choose from, each with its text.
    var choices: [(value: String, text: String)] = []
    /// Whether the browser asks for a value.
    var isNeeded = false
  }

  /// The id by which a button outside of the form belongs to it; nil for none.
  var id: String?
  /// The path that gets the form.
  var action: String
  /// Whether the form changes something, and so is sent by `POST` with the session's token.
  var changes = false
  var fields: [FormField]
  /// The text of the button.
  var button: String
  /// Whether the form is sent by `POST` although it changes nothing, because it holds a secret or much text.
  var isPosted = false

  /// The values for a template.
  ///
  /// - Parameters:
  ///   - place: The place of the form on its page, which makes its ids unique.
  ///   - token: The token of the session against forged requests.
  func values(_ place: String, token: String) -> PageValues {
    var all = fields
    if changes { all.append(FormField(name: ConsoleSessions.tokenField, label: "", sort: .hidden, value: token)) }
    return PageValues([
      "formId": id.map { .text($0) }, "action": .text(action),
      "method": changes || isPosted ? "post" : "get", "button": .text(button),
      "hasFile": .flag(fields.contains { $0.sort == .file }),
      "isLarge": .flag(fields.contains { $0.sort == .area }),
      "fields": .list(
        all.map { field in
          PageValues([
            "name": .text(field.name), "label": .text(field.label), "value": .raw(field.value),
            "fieldId": .text("field-\(place)-\(field.name)"), "hint": field.hint.map { .text($0) },
            "isHidden": .flag(field.sort == .hidden), "isArea": .flag(field.sort == .area),
            "isChoice": .flag(field.sort == .choice), "isFile": .flag(field.sort == .file),
            "isNeeded": .flag(field.isNeeded),
            "isSecret": .flag(field.sort == .password),
            "isLine": .flag([.text, .search, .password].contains(field.sort)), "sort": .text(field.sort.rawValue),
            "choices": .list(
              field.choices.map {
                PageValues([
                  "value": .text($0.value), "text": .text($0.text), "isChosen": .flag($0.value == field.value),
                ])
              }),
          ])
        }),
    ])
  }
}
