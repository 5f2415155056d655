#include "fuzzer.h"

// Declared by compiler-rt's libclang_rt.fuzzer_no_main, which has no header.
int LLVMFuzzerRunDriver(int *count, char ***words, int (*body)(const uint8_t *, size_t));

int fuzzer_run(int count, const char *const *words, int (*body)(const uint8_t *, size_t)) {
  char **arguments = (char **)words;
  return LLVMFuzzerRunDriver(&count, &arguments, body);
}
