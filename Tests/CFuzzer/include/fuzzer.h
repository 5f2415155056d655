#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer in this process. Returns or exits when it is done.
///
/// `words` are the arguments as a program gets them, the name of the program first; `body` reads one input and returns 0.
int fuzzer_run(int count, const char *const *words, int (*body)(const uint8_t *bytes, size_t count));
