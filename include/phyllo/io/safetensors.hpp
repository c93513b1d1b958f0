// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <phyllo/io/atomic_file.hpp>
#include <phyllo/io/input_file.hpp>
#include <phyllo/io/json_header.hpp>
#include <phyllo/io/refuse_file.hpp>
#include <phyllo/io/safetensors_header.hpp>
#include <phyllo/io/tensor.hpp>

namespace phyllo::inline PHYLLO_ISA {

static_assert(std::endian::native == std::endian::little,
              "safetensors files are little-endian, and Phyllo does not reverse bytes. It requires "
              "a little-endian processor.");

namespace detail {

inline constexpr std::size_t safetensors_length_bytes = 8;

// The header's length from the file's first eight bytes, checked against the file's size.
inline std::size_t safetensors_header_length(std::span<std::byte const> prefix,
                                             std::uint64_t file_bytes, std::string_view source) {
  if (file_bytes < safetensors_length_bytes) {
    refuse_file(source, "at least 8 bytes", std::to_string(file_bytes), damaged_file_remedy);
  }
  std::uint64_t length = 0;
  for (std::size_t index = 0; index < safetensors_length_bytes; ++index) {
    length |= std::to_integer<std::uint64_t>(prefix[index]) << (8 * index);
  }
  if (length > safetensors_header_limit) {
    refuse_file(source, "a header of at most 100000000 bytes", std::to_string(length),
                damaged_file_remedy);
  }
  if (length > file_bytes - safetensors_length_bytes) {
    refuse_file(source, "a header inside the file's " + std::to_string(file_bytes) + " bytes",
                "one of " + std::to_string(length) + " bytes", damaged_file_remedy);
  }
  return static_cast<std::size_t>(length);
}

// How tensors lie in a file that is written: their order, and all bytes before the first of them.
struct SafetensorsPlan {
  std::vector<StoredTensor const*> order;
  std::string beginning;  // length, header, padding
};

inline void check_text(std::string_view text, std::string_view what, std::string_view source) {
  if (!valid_utf8(text)) {
    refuse_file(source, "UTF-8 in " + std::string(what), in_quotes(text), "rename it");
  }
}

inline void check_metadata(TensorFile const& file, std::string_view source) {
  std::vector<std::string_view> keys;
  for (auto const& [key, text] : file.metadata) {
    check_text(key, "a metadata key", source);
    check_text(text, "the metadata " + in_quotes(key), source);
    keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  auto const twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) {
    refuse_file(source, "unique metadata keys", in_quotes(*twice) + " twice", "rename one");
  }
}

inline void check_tensor(StoredTensor const& tensor, std::string_view source) {
  check_text(tensor.name, "a tensor's name", source);
  if (tensor.name == safetensors_metadata_key) {
    refuse_file(source, "a tensor's name", "\"__metadata__\", which the format reserves",
                "rename it");
  }
  auto const size = stored_size(tensor.type, tensor.shape);
  if (!size || *size != tensor.bytes.size()) {
    refuse_file(source,
                (size ? std::to_string(*size) + " bytes" : std::string("a size in whole bytes")) +
                    " for tensor " + in_quotes(tensor.name) + " of shape " +
                    shape_text(tensor.shape) + " and type " +
                    std::string(safetensors_name(tensor.type)),
                std::to_string(tensor.bytes.size()) + " bytes",
                "make the tensor's bytes match its shape and type");
  }
}

inline SafetensorsPlan plan_safetensors(TensorFile const& file, std::string_view source) {
  SafetensorsPlan plan;
  check_metadata(file, source);
  for (StoredTensor const& tensor : file.tensors) {
    check_tensor(tensor, source);
    plan.order.push_back(&tensor);
  }
  // The reference implementation's order: wide elements first, which aligns them all; then names.
  std::sort(plan.order.begin(), plan.order.end(),
            [](StoredTensor const* left, StoredTensor const* right) {
              if (left->type != right->type) return left->type > right->type;
              return left->name < right->name;
            });
  std::vector<std::string_view> names;
  for (StoredTensor const* tensor : plan.order) names.push_back(tensor->name);
  std::sort(names.begin(), names.end());
  auto const twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    refuse_file(source, "unique tensor names", in_quotes(*twice) + " twice", "rename one");
  }

  std::string header = "{";
  if (!file.metadata.empty()) {
    header += "\"__metadata__\":";
    char before = '{';
    for (auto const& [key, text] : file.metadata) {
      header += before;
      append_json_string(header, key);
      header += ':';
      append_json_string(header, text);
      before = ',';
    }
    header += '}';
  }
  std::uint64_t begin = 0;
  for (StoredTensor const* tensor : plan.order) {
    std::uint64_t const end = begin + tensor->bytes.size();
    if (header.size() > 1) header += ',';
    append_json_string(header, tensor->name);
    header += ":{\"dtype\":\"" + std::string(safetensors_name(tensor->type)) +
              "\",\"shape\":" + shape_text(tensor->shape) + ",\"data_offsets\":[" +
              std::to_string(begin) + "," + std::to_string(end) + "]}";
    begin = end;
  }
  header += '}';
  header.resize((header.size() + 7) / 8 * 8, ' ');
  if (header.size() > safetensors_header_limit) {
    refuse_file(source, "a header of at most 100000000 bytes", std::to_string(header.size()),
                "shorten names and metadata or write several files");
  }
  for (std::size_t index = 0; index < safetensors_length_bytes; ++index) {
    plan.beginning += static_cast<char>((header.size() >> (8 * index)) & 0xff);
  }
  plan.beginning += header;
  return plan;
}

}  // namespace detail

/// Reads a safetensors file that is in memory.
///
/// shape    tensors come in the order of their bytes in the file
/// threads  any number; one at a time writes a path
/// errors   run: anything that the format does not allow, in whole or in part -> Error
/// numerics values are not looked at: NaN and infinities pass
/// cost     one copy of the tensors; at most 16 MB and twice the bytes, the given ones included
/// source   https://github.com/huggingface/safetensors, README "Format"
inline TensorFile parse_safetensors(std::span<std::byte const> bytes) {
  constexpr std::string_view source = "reading safetensors from memory";
  std::size_t const length = detail::safetensors_header_length(bytes, bytes.size(), source);
  auto const header = bytes.subspan(detail::safetensors_length_bytes, length);
  auto data = bytes.subspan(detail::safetensors_length_bytes + length);
  TensorFile file = detail::SafetensorsHeader::parse(
      {reinterpret_cast<char const*>(header.data()), header.size()}, data.size(), source,
      detail::reading_memory(bytes.size(), bytes.size() + data.size()));
  for (StoredTensor& tensor : file.tensors) {
    auto const size = detail::stored_size(tensor.type, tensor.shape).value_or(0);
    auto const own = data.first(static_cast<std::size_t>(size));
    tensor.bytes.assign(own.begin(), own.end());
    data = data.subspan(own.size());
  }
  return file;
}

/// Reads a safetensors file.
///
/// shape    tensors come in the order of their bytes in the file
/// errors   run: a file that cannot be read; anything that the format does not allow -> Error
/// numerics values are not looked at: NaN and infinities pass
/// cost     the file's bytes are read once, into their tensors; at most twice the file and 16 MB of
///          memory, whatever the file says
/// source   https://github.com/huggingface/safetensors, README "Format"
inline TensorFile read_safetensors(std::string const& path) {
  std::string const source = "reading " + detail::quoted_path(path);
  detail::InputFile input(path, source);
  std::byte prefix[detail::safetensors_length_bytes] = {};
  input.read(prefix, std::min<std::uint64_t>(sizeof(prefix), input.size()));
  std::size_t const length = detail::safetensors_header_length(prefix, input.size(), source);
  std::uint64_t const data_bytes = input.size() - sizeof(prefix) - length;
  TensorFile file;
  {
    std::string header(length, '\0');
    input.read(header.data(), length);
    // The header's text is gone before the tensors' bytes come.
    std::uint64_t const held = std::max<std::uint64_t>(length, data_bytes);
    file = detail::SafetensorsHeader::parse(header, data_bytes, source,
                                            detail::reading_memory(input.size(), held));
  }
  for (StoredTensor& tensor : file.tensors) {
    auto const size = detail::stored_size(tensor.type, tensor.shape).value_or(0);
    tensor.bytes.resize(static_cast<std::size_t>(size));
    input.read(tensor.bytes.data(), tensor.bytes.size());
  }
  return file;
}

/// The bytes of a safetensors file: for the same content the same bytes, those that the reference
/// implementation writes.
///
/// errors   run: names or keys that are not unique or not UTF-8, bytes that do not match shape and
///          type, a header of more than 100,000,000 bytes -> Error
/// source   https://github.com/huggingface/safetensors, README "Format"
inline std::vector<std::byte> serialize_safetensors(TensorFile const& file) {
  detail::SafetensorsPlan const plan =
      detail::plan_safetensors(file, "writing safetensors to memory");
  std::vector<std::byte> bytes;
  std::size_t size = plan.beginning.size();
  for (StoredTensor const* tensor : plan.order) size += tensor->bytes.size();
  bytes.reserve(size);
  auto const beginning = std::as_bytes(std::span(plan.beginning));
  bytes.insert(bytes.end(), beginning.begin(), beginning.end());
  for (StoredTensor const* tensor : plan.order) {
    bytes.insert(bytes.end(), tensor->bytes.begin(), tensor->bytes.end());
  }
  return bytes;
}

/// Writes a safetensors file that appears complete or not at all (AtomicFile).
///
/// errors   run: those of serialize_safetensors and of AtomicFile -> Error; a file that was there
///          before is then unchanged
/// cost     the tensors' bytes are written from where they are, without a copy
/// source   https://github.com/huggingface/safetensors, README "Format"
inline void write_safetensors(std::string const& path, TensorFile const& file) {
  detail::SafetensorsPlan const plan =
      detail::plan_safetensors(file, "writing " + detail::quoted_path(path));
  AtomicFile output(path);
  output.write(std::as_bytes(std::span(plan.beginning)));
  for (StoredTensor const* tensor : plan.order) output.write(tensor->bytes);
  output.commit();
}

}  // namespace phyllo::inline PHYLLO_ISA
