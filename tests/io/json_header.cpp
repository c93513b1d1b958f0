// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/io/json_header.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "io/safetensors_file.hpp"

using phyllo::detail::JsonHeader;
using phyllo_test::contains;
using phyllo_test::refusal;

namespace {

constexpr std::uint64_t plenty = 1'000'000;  // bytes

// The one string that the text is.
std::string string_in(std::string_view text) {
  JsonHeader json(text, "test", plenty);
  std::string result = json.string("a string");
  json.expect_end();
  return result;
}

std::uint64_t number_in(std::string_view text,
                        std::uint64_t largest = std::numeric_limits<std::uint64_t>::max()) {
  JsonHeader json(text, "test", plenty);
  std::uint64_t const result = json.natural_number("a number", largest);
  json.expect_end();
  return result;
}

}  // namespace

TEST_CASE("strings are decoded") {
  CHECK(string_in(R"("")").empty());
  CHECK(string_in(R"( "plain" )") == "plain");
  CHECK(string_in(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
  CHECK(string_in(R"("\u0041\u00e9\u20AC")") == "A\xc3\xa9\xe2\x82\xac");
  CHECK(string_in(R"("\ud83d\uDE00")") == "\xf0\x9f\x98\x80");
  CHECK(string_in(R"("\ud800\udc00\udbff\udfff")") == "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
  CHECK(string_in("\"\\u0000\"") == std::string(1, '\0'));
  CHECK(string_in("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"") ==
        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f");
}

TEST_CASE("strings that are not JSON are refused") {
  for (std::string_view const text : {"",
                                      "x",
                                      "'x'",
                                      "\"",
                                      "\"x",
                                      "\"x\\\"",
                                      "\"\\",
                                      "\"\\x\"",
                                      "\"\\u\"",
                                      "\"\\u12\"",
                                      "\"\\u123\"",
                                      "\"\\u12g4\"",
                                      "\"\\u+123\"",
                                      "\"\\ud800\"",
                                      "\"\\ud800x\"",
                                      "\"\\ud800\\u0041\"",
                                      "\"\\ud800\\ud800\"",
                                      "\"\\udc00\"",
                                      "\"\\ud800\\n\"",
                                      "\"\\ud800\\udc0\"",
                                      "\"a\nb\"",
                                      "\"a\x1f\"",
                                      "\"x\" y"}) {
    CAPTURE(text);
    std::string const sentence = refusal([text] { string_in(text); });
    CHECK(phyllo_test::is_one_sentence(sentence));
    CHECK(contains(sentence, "test: expected "));
  }
}

TEST_CASE("strings that are not UTF-8 are refused") {
  for (std::string_view const text : {"\x80",
                                      "\xbf",
                                      "\xc0\xaf",
                                      "\xc1\xbf",
                                      "\xc2",
                                      "\xc2 ",
                                      "\xc3\xc3",
                                      "\xe0\x80\xaf",
                                      "\xe0\x9f\xbf",
                                      "\xe2\x82",
                                      "\xe2\x28\xa1",
                                      "\xed\xa0\x80",
                                      "\xed\xbf\xbf",
                                      "\xf0\x80\x80\xaf",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf0\x9f\x98",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xf8\x88\x80\x80\x80",
                                      "\xff",
                                      "\xfe"}) {
    CAPTURE(text);
    CHECK_FALSE(phyllo::detail::valid_utf8(text));
    CHECK(contains(refusal([text] { string_in("\"" + std::string(text) + "\""); }), "UTF-8"));
  }
  CHECK(phyllo::detail::valid_utf8("\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"));
}

TEST_CASE("natural numbers are read to their last value") {
  CHECK(number_in("0") == 0);
  CHECK(number_in(" 1234567890 ") == 1234567890);
  CHECK(number_in("18446744073709551615") == 18446744073709551615U);
  CHECK(number_in("9223372036854775807", 9223372036854775807U) == 9223372036854775807U);
}

TEST_CASE("numbers that are not natural, or too large, are refused") {
  for (std::string_view const text :
       {"", "-1", "-0", "+1", "01", "00", "1.0", "1.", "1e3", "1E3", "0x10", "1-", "1 2", "NaN",
        "18446744073709551616", "99999999999999999999", "184467440737095516150"}) {
    CAPTURE(text);
    CHECK(phyllo_test::is_one_sentence(refusal([text] { number_in(text); })));
  }
  CHECK(contains(refusal([] { number_in("9223372036854775808", 9223372036854775807U); }),
                 "at most 9223372036854775807"));
}

TEST_CASE("memory is charged before it is taken") {
  std::string const text = "\"" + std::string(1000, 'x') + "\"";
  JsonHeader enough(text, "test", 1000 + JsonHeader::heap_overhead);
  CHECK(enough.string("a string").size() == 1000);
  JsonHeader little(text, "test", 999 + JsonHeader::heap_overhead);
  CHECK(contains(refusal([&little] { little.string("a string"); }), "memory"));
}

TEST_CASE("objects and array lengths are counted without being read") {
  CHECK(JsonHeader(R"({"{":{},"\"{":{},"\\":{}})", "test", plenty).object_count() == 4);
  CHECK(JsonHeader("1,2,3],4", "test", plenty).array_length_ahead() == 3);
  CHECK(JsonHeader(" ]", "test", plenty).array_length_ahead() == 0);
}

TEST_CASE("text is escaped so that reading gives it back") {
  std::string text;
  for (char character = 1; character < 127; ++character) text += character;
  text += std::string(1, '\0') + "\x7f\xc3\xa9\xf0\x9f\x98\x80";
  std::string json;
  phyllo::detail::append_json_string(json, text);
  CHECK(string_in(json) == text);
  std::string control;
  phyllo::detail::append_json_string(control, "\x1f\n");
  CHECK(control == R"("\u001f\n")");
}
