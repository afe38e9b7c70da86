// Errors of C++ as messages for Rust: each function returns nullptr, or a message that tengen_free_message frees.

#pragma once

#include <cstring>
#include <exception>

namespace tengen {

// Where there is no memory for a message. It is not freed.
inline char no_memory[] = "an error, and no memory for its message";

// Of a message that is freed once.
inline char* message(const char* text) {
  char* copied = strdup(text);
  return copied == nullptr ? no_memory : copied;
}

template <typename F>
char* try_to(F work) {
  try {
    work();
    return nullptr;
  } catch (const std::exception& error) {
    return message(error.what());
  } catch (...) {
    return message("an exception that is no error");
  }
}

}  // namespace tengen
