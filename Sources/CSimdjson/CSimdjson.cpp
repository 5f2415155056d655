#include "CSimdjson.h"

#include <simdjson.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

// simdjson parses to its own tape; this file walks that tape once and leaves flat nodes, so that the caller needs no C
// call per value. Nothing here throws: allocations are checked, simdjson is used through its error codes.

namespace {

constexpr size_t bytes_limit = size_t(64) << 20;
constexpr size_t nesting_limit = 1000;
constexpr size_t capacity_min = 4096;

struct free_deleter {
  void operator()(void *p) const { std::free(p); }
};
template <typename T> using buffer = std::unique_ptr<T[], free_deleter>;

template <typename T> buffer<T> allocate(size_t count) {
  return buffer<T>(static_cast<T *>(std::malloc(count * sizeof(T))));
}

struct container {
  uint32_t node;
  uint32_t items;
};

}  // namespace

struct rouse_json_parser {
  simdjson::dom::parser parser;
  /// The document with the padding that simdjson reads past its end.
  buffer<uint8_t> input;
  buffer<rouse_json_node> nodes;
  buffer<container> open;
  /// The integers beyond 64 bits: the place of each among the numbers of the document, in order.
  buffer<uint32_t> big_integers;
  size_t big_integer_count = 0;
  size_t capacity = 0;
  size_t bytes_max;
  size_t nesting_max;

  bool reserve(size_t length);
  int flatten(rouse_json_document *document);
};

bool rouse_json_parser::reserve(size_t length) {
  if (length <= capacity) { return true; }
  size_t wanted = capacity_min;
  while (wanted < length) { wanted *= 2; }
  capacity = 0;
  input = allocate<uint8_t>(wanted + simdjson::SIMDJSON_PADDING);
  // A value takes at least two bytes of its document (itself and a separator), except the last.
  nodes = allocate<rouse_json_node>(wanted / 2 + 2);
  if (!input || !nodes) { return false; }
  if (parser.doc.allocate(wanted) != simdjson::SUCCESS) { return false; }
  if (parser.allocate(wanted, nesting_limit + 2) != simdjson::SUCCESS) { return false; }
  capacity = wanted;
  return true;
}

int rouse_json_parser::flatten(rouse_json_document *document) {
  using simdjson::internal::tape_type;
  constexpr uint64_t payload = simdjson::internal::JSON_VALUE_MASK;
  const uint64_t *tape = parser.doc.tape.get();
  const uint8_t *strings = parser.doc.string_buf.get();
  const size_t end = size_t(tape[0] & payload) - 1;  // the closing root word
  const size_t room = capacity / 2 + 2;
  size_t made = 0;
  size_t depth = 0;
  size_t numbers = 0;
  size_t big_integers_passed = 0;
  for (size_t at = 1; at < end; at++) {
    const auto type = static_cast<tape_type>(tape[at] >> 56);
    if (type == tape_type::END_ARRAY || type == tape_type::END_OBJECT) {
      depth--;
      rouse_json_node &node = nodes[open[depth].node];
      node.bits = made;
      node.count = type == tape_type::END_OBJECT ? open[depth].items / 2 : open[depth].items;
      continue;
    }
    if (made == room) { return rouse_json_malformed; }
    if (depth > 0) { open[depth - 1].items++; }
    rouse_json_node &node = nodes[made++];
    node = {0, 0, rouse_json_null};
    switch (type) {
      case tape_type::START_ARRAY:
      case tape_type::START_OBJECT:
        if (depth == nesting_max) { return rouse_json_too_deep; }
        node.kind = type == tape_type::START_OBJECT ? rouse_json_object : rouse_json_array;
        open[depth++] = {uint32_t(made - 1), 0};
        break;
      case tape_type::STRING: {
        const uint64_t offset = tape[at] & payload;
        uint32_t length;
        std::memcpy(&length, strings + offset, sizeof length);
        node = {offset + sizeof length, length, rouse_json_string};
        break;
      }
      case tape_type::INT64:
        numbers++;
        node = {tape[++at], 0, rouse_json_int64};
        break;
      case tape_type::UINT64:
        numbers++;
        node = {tape[++at], 0, rouse_json_uint64};
        break;
      case tape_type::DOUBLE: {
        const bool is_big =
            big_integers_passed < big_integer_count && big_integers[big_integers_passed] == numbers;
        if (is_big) { big_integers_passed++; }
        numbers++;
        node = {tape[++at], is_big, rouse_json_double};
        break;
      }
      case tape_type::TRUE_VALUE: node.kind = rouse_json_true; break;
      case tape_type::FALSE_VALUE: node.kind = rouse_json_false; break;
      case tape_type::NULL_VALUE: break;
      default: return rouse_json_malformed;
    }
  }
  *document = {nodes.get(), made, strings};
  return rouse_json_ok;
}

namespace {

bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

/// Whether digits[0..<count] of an integer do not fit in 64 bits.
bool exceeds_64_bits(const uint8_t *digits, size_t count, bool negative) {
  if (count != 19 && count != 20) { return count > 20; }
  unsigned __int128 value = 0;
  for (size_t i = 0; i < count; i++) { value = value * 10 + (digits[i] - '0'); }
  const unsigned __int128 top = 1;
  return negative ? value > (top << 63) : value >= (top << 64);
}

bool is_number_part(uint8_t byte) {
  return is_digit(byte) || byte == '.' || byte == 'e' || byte == 'E' || byte == '+' || byte == '-';
}

/// simdjson refuses integers beyond 64 bits. JSON does not: this writes `e0` after each, which makes it a double. Returns
/// how many there were, with the place of each among all numbers in `places`; `to` has room for two more bytes for every 19
/// of `from`, and `places` for one.
size_t mark_big_integers(const uint8_t *from, size_t length, uint8_t *to, size_t *written, uint32_t *places) {
  size_t out = 0, marked = 0, numbers = 0;
  bool in_string = false;
  for (size_t at = 0; at < length;) {
    const uint8_t byte = from[at];
    if (in_string || (byte != '-' && !is_digit(byte))) {
      if (in_string && byte == '\\' && at + 1 < length) { to[out++] = from[at++]; }
      else if (byte == '"') { in_string = !in_string; }
      to[out++] = from[at++];
      continue;
    }
    const bool negative = byte == '-';
    const size_t digits = at + negative;
    bool integer = true;
    do {
      to[out++] = from[at++];
      integer = integer && (at == length || !is_number_part(from[at]) || is_digit(from[at]));
    } while (at < length && is_number_part(from[at]));
    if (integer && at > digits && exceeds_64_bits(from + digits, at - digits, negative)) {
      to[out++] = 'e';
      to[out++] = '0';
      places[marked++] = uint32_t(numbers);
    }
    numbers++;
  }
  *written = out;
  return marked;
}

int result_code(simdjson::error_code error) {
  switch (error) {
    case simdjson::SUCCESS: return rouse_json_ok;
    case simdjson::CAPACITY: return rouse_json_too_large;
    case simdjson::MEMALLOC: return rouse_json_out_of_memory;
    case simdjson::DEPTH_ERROR: return rouse_json_too_deep;
    case simdjson::UTF8_ERROR: return rouse_json_invalid_utf8;
    case simdjson::NUMBER_ERROR: return rouse_json_number_range;
    case simdjson::EMPTY: return rouse_json_empty;
    default: return rouse_json_malformed;
  }
}

}  // namespace

rouse_json_parser *rouse_json_parser_create(size_t bytes_max, size_t nesting_max) {
  auto *made = new (std::nothrow) rouse_json_parser();
  if (!made) { return nullptr; }
  made->bytes_max = bytes_max < bytes_limit ? bytes_max : bytes_limit;
  made->nesting_max = nesting_max < nesting_limit ? nesting_max : nesting_limit;
  made->open = allocate<container>(made->nesting_max + 1);
  if (!made->open || !made->reserve(capacity_min)) {
    delete made;
    return nullptr;
  }
  return made;
}

void rouse_json_parser_destroy(rouse_json_parser *parser) { delete parser; }

int rouse_json_parse(rouse_json_parser *parser, const uint8_t *bytes, size_t length, rouse_json_document *document) {
  if (length > parser->bytes_max) { return rouse_json_too_large; }
  if (length == 0) { return rouse_json_empty; }
  if (!parser->reserve(length)) { return rouse_json_out_of_memory; }
  std::memcpy(parser->input.get(), bytes, length);
  std::memset(parser->input.get() + length, ' ', simdjson::SIMDJSON_PADDING);
  parser->big_integer_count = 0;
  auto error = parser->parser.parse(parser->input.get(), length, false).error();
  if (error == simdjson::NUMBER_ERROR) {
    const size_t room = length + 2 * (length / 19);
    if (!parser->reserve(room)) { return rouse_json_out_of_memory; }
    parser->big_integers = allocate<uint32_t>(length / 19 + 1);
    if (!parser->big_integers) { return rouse_json_out_of_memory; }
    size_t written = 0;
    parser->big_integer_count =
        mark_big_integers(bytes, length, parser->input.get(), &written, parser->big_integers.get());
    if (parser->big_integer_count > 0) {
      std::memset(parser->input.get() + written, ' ', simdjson::SIMDJSON_PADDING);
      error = parser->parser.parse(parser->input.get(), written, false).error();
    }
  }
  if (error != simdjson::SUCCESS) { return result_code(error); }
  return parser->flatten(document);
}
