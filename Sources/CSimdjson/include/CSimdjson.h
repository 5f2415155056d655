#ifndef ROUSE_CSIMDJSON_H
#define ROUSE_CSIMDJSON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The types of nodes.
enum {
  rouse_json_null = 0,
  rouse_json_false = 1,
  rouse_json_true = 2,
  /// `bits` is an `int64_t`.
  rouse_json_int64 = 3,
  /// `bits` is a `uint64_t` greater than INT64_MAX.
  rouse_json_uint64 = 4,
  /// `bits` is an IEEE 754 double. `count` is 1 if the document writes an integer beyond 64 bits, else 0.
  rouse_json_double = 5,
  /// `bits` is the offset of the unescaped UTF-8 text in the strings, `count` its length in bytes.
  rouse_json_string = 6,
  /// `count` elements follow; `bits` is the index of the node after the last of them.
  rouse_json_array = 7,
  /// `count` members follow, each a string node (its key) and a value; `bits` is the index of the node after the last.
  rouse_json_object = 8,
};

/// One value of a document. Nodes are in document order.
typedef struct rouse_json_node {
  uint64_t bits;
  uint32_t count;
  uint32_t kind;
} rouse_json_node;

/// Why a document was refused.
enum {
  rouse_json_ok = 0,
  rouse_json_out_of_memory = 1,
  /// Longer than the parser's bound.
  rouse_json_too_large = 2,
  /// Nested deeper than the parser's bound.
  rouse_json_too_deep = 3,
  rouse_json_invalid_utf8 = 4,
  /// A number that no double can hold.
  rouse_json_number_range = 5,
  /// Nothing but white space.
  rouse_json_empty = 6,
  /// Anything else that is not JSON (simdjson does not say where).
  rouse_json_malformed = 7,
};

/// A document: valid until the next call for the same parser.
typedef struct rouse_json_document {
  const rouse_json_node *nodes;
  size_t node_count;
  const uint8_t *strings;
} rouse_json_document;

typedef struct rouse_json_parser rouse_json_parser;

/// A parser for documents of at most `bytes_max` bytes and `nesting_max` levels (both clamped: 64 MiB, 1,000). NULL when
/// out of memory. Its buffers grow with the documents that it sees and never shrink.
rouse_json_parser *rouse_json_parser_create(size_t bytes_max, size_t nesting_max);

void rouse_json_parser_destroy(rouse_json_parser *parser);

/// Parses `length` bytes; they may be anything. On `rouse_json_ok`, `document` is filled.
int rouse_json_parse(rouse_json_parser *parser, const uint8_t *bytes, size_t length, rouse_json_document *document);

#ifdef __cplusplus
}
#endif

#endif
