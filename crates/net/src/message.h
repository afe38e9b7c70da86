// Errors of C++ as messages for Rust: each function returns nullptr, or a message that tengen_free_message frees.

#pragma once

#include <cstring>
#include <exception>

// Of a message that is freed once: memory that is not freed if there is none for it.
inline char* message(const char* text) {
  static char none[] = "an error, and no memory for its message";
  char* copied = strdup(text);
  return copied == nullptr ? none : copied;
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
