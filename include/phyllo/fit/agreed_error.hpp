// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/policy/agreement.hpp>

#include <exception>
#include <string>

namespace phyllo::inline PHYLLO_ISA::detail {

// Calls `call()`, which sends no messages, and throws the same Error on all ranks where it has
// failed on one of them: that of the first. Collective; two small sums.
template <class T, class Call> void agree_on_errors(T& trainer, Call const& call) {
  auto& sums = trainer.sums();
  std::string sentence;
  try {
    call();
  } catch (std::exception const& error) {
    sentence = error.what();
    if (sentence.empty()) sentence = "An unknown error.";
  } catch (...) {
    sentence = "An unknown error.";
  }
  if (sums.size() > 1) {
    bool const has_failed = !sentence.empty();
    bool const is_first = has_failed && sums.exclusive_sum(1) == 0;
    if (!has_failed) static_cast<void>(sums.exclusive_sum(0));
    sentence =
        text_of_speaker(trainer.exec(), sums, sentence.substr(0, Agreement::capacity), is_first);
  }
  if (!sentence.empty()) throw Error(sentence);
}

// The same for a call of the user's: a rank throws its own exception, the others an Error.
template <class T, class Call> void agree_on_exceptions(T& trainer, Call const& call) {
  std::exception_ptr own;
  try {
    agree_on_errors(trainer, [&] {
      try {
        call();
      } catch (...) {
        own = std::current_exception();
        throw;
      }
    });
  } catch (Error const&) {
    if (own != nullptr) std::rethrow_exception(own);
    throw;
  }
}

// The text of rank 0, on all ranks. Collective.
template <class T> std::string text_of_first_rank(T& trainer, std::string const& text) {
  auto& sums = trainer.sums();
  if (sums.size() == 1) return text;
  return text_of_speaker(trainer.exec(), sums, text, sums.rank() == 0);
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
