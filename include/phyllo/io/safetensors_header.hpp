// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <phyllo/io/json_header.hpp>
#include <phyllo/io/tensor.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

inline constexpr std::uint64_t safetensors_header_limit = 100'000'000;  // bytes, by the format
inline constexpr std::string_view safetensors_metadata_key = "__metadata__";

// What reading may allocate: together with the file's bytes, where these are held too, no more than
// twice the file and 16 MB. 1 MB of it is left to the program and the rounding of pages.
constexpr std::uint64_t reading_memory(std::uint64_t file_bytes, std::uint64_t bytes_held) {
  return 2 * file_bytes + 15'000'000 - bytes_held;
}

// Reads the text of a safetensors header: tensors without their bytes, in the order of their bytes
// in the file, with every rule of the format enforced that does not need the bytes themselves.
class SafetensorsHeader {
 public:
  // data_bytes: the size of what follows the header; memory: bytes that may be kept.
  static TensorFile parse(std::string_view text, std::uint64_t data_bytes, std::string_view source,
                          std::uint64_t memory) {
    SafetensorsHeader header(text, data_bytes, source, memory);
    header.read_entries();
    header.check_names();
    header.check_offsets();
    header.order_by_offset();
    return std::move(header.file_);
  }

 private:
  struct Placement {
    std::uint64_t begin = 0;  // of the tensor's bytes after the header
    std::uint64_t end = 0;
    std::size_t index = 0;  // of the tensor in file_.tensors
  };

  SafetensorsHeader(std::string_view text, std::uint64_t data_bytes, std::string_view source,
                    std::uint64_t memory)
      : json_(text, source, memory), data_bytes_(data_bytes) {
    if (text.empty() || text.front() != '{') json_.refuse_here("'{' as the header's first byte");
    std::size_t const tensors = json_.object_count() - 1;
    // Each tensor also costs an allocation for its extents and one for its bytes.
    json_.charge(tensors *
                 (sizeof(StoredTensor) + sizeof(Placement) + 2 * JsonHeader::heap_overhead));
    file_.tensors.reserve(tensors);
    placements_.reserve(tensors);
  }

  void read_entries() {
    json_.expect('{', "at the header's beginning");
    if (!json_.accept('}')) {
      do {
        std::string name = json_.string("a tensor's name");
        json_.expect(':', "after a tensor's name");
        if (name == safetensors_metadata_key) {
          read_metadata();
        } else {
          read_tensor(std::move(name));
        }
      } while (json_.accept(','));
      json_.expect('}', "or ',' after a tensor");
    }
    json_.expect_end();
  }

  void read_metadata() {
    if (metadata_seen_) json_.refuse("one __metadata__", "a second one");
    metadata_seen_ = true;
    json_.expect('{', "at the beginning of __metadata__");
    if (json_.accept('}')) return;
    do {
      std::string key = json_.string("a metadata key");
      json_.expect(':', "after a metadata key");
      std::string text = json_.string("the metadata " + in_quotes(key));
      // Growth by doubling holds an old and a new array of together three times the pairs.
      json_.charge(3 * sizeof(file_.metadata.front()) + sizeof(std::size_t));
      file_.metadata.emplace_back(std::move(key), std::move(text));
    } while (json_.accept(','));
    json_.expect('}', "or ',' after metadata");
    check_metadata_keys();
  }

  void check_metadata_keys() const {
    auto const& pairs = file_.metadata;
    std::vector<std::size_t> order(pairs.size());
    for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
    std::sort(order.begin(), order.end(), [&pairs](std::size_t left, std::size_t right) {
      return pairs[left].first < pairs[right].first;
    });
    for (std::size_t index = 1; index < order.size(); ++index) {
      std::string const& key = pairs[order[index]].first;
      if (key == pairs[order[index - 1]].first) {
        json_.refuse("unique metadata keys", in_quotes(key) + " twice");
      }
    }
  }

  void read_tensor(std::string name) {
    StoredTensor tensor;
    tensor.name = std::move(name);
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool type_seen = false;
    bool shape_seen = false;
    bool offsets_seen = false;
    json_.expect('{', "after the name of tensor " + in_quotes(tensor.name));
    if (json_.peek() != '}') {
      do {
        std::string const key = json_.string("a property of tensor " + in_quotes(tensor.name));
        json_.expect(':', "after a property's name");
        bool* const seen = key == "dtype"          ? &type_seen
                           : key == "shape"        ? &shape_seen
                           : key == "data_offsets" ? &offsets_seen
                                                   : nullptr;
        if (seen == nullptr || *seen) {
          refuse_tensor("dtype, shape and data_offsets once each", in_quotes(key), tensor);
        }
        *seen = true;
        if (key == "dtype") {
          read_type(tensor);
        } else if (key == "shape") {
          read_shape(tensor);
        } else {
          json_.expect('[', "before two data_offsets");
          begin = json_.natural_number("a data offset", offset_limit);
          json_.expect(',', "between two data_offsets");
          end = json_.natural_number("a data offset", offset_limit);
          json_.expect(']', "after two data_offsets");
        }
      } while (json_.accept(','));
    }
    json_.expect('}', "or ',' after a property of tensor " + in_quotes(tensor.name));
    if (!type_seen || !shape_seen || !offsets_seen) {
      refuse_tensor("dtype, shape and data_offsets", "fewer", tensor);
    }
    check_size(tensor, begin, end);
    placements_.push_back({begin, end, file_.tensors.size()});
    file_.tensors.push_back(std::move(tensor));
  }

  void read_type(StoredTensor& tensor) {
    std::string const spelling = json_.string("a dtype");
    auto const type = element_type_from_safetensors(spelling);
    if (!type) {
      std::string known;
      for (ElementTypeFacts const& facts : element_types) {
        known += known.empty() ? "" : ", ";
        known += facts.safetensors_name;
      }
      refuse_tensor("a dtype out of " + known, in_quotes(spelling), tensor);
    }
    tensor.type = *type;
  }

  void read_shape(StoredTensor& tensor) {
    json_.expect('[', "before a shape");
    std::size_t const rank = json_.array_length_ahead();
    json_.charge(rank * sizeof(std::int64_t));
    tensor.shape.reserve(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      if (axis > 0) json_.expect(',', "between two extents");
      auto const extent = json_.natural_number("an extent", offset_limit);
      tensor.shape.push_back(static_cast<std::int64_t>(extent));
    }
    json_.expect(']', "after a shape");
  }

  void check_size(StoredTensor const& tensor, std::uint64_t begin, std::uint64_t end) const {
    std::string const offsets = "[" + std::to_string(begin) + "," + std::to_string(end) + "]";
    if (begin > end) refuse_tensor("data_offsets in ascending order", offsets, tensor);
    if (end > data_bytes_) {
      refuse_tensor("data_offsets inside the " + std::to_string(data_bytes_) +
                        " bytes that follow the header",
                    offsets, tensor);
    }
    auto const size = stored_size(tensor.type, tensor.shape);
    if (size && *size == end - begin) return;
    std::string what = std::string(safetensors_name(tensor.type)) + " elements of ";
    // A hostile shape may have millions of extents; a message has not.
    what += tensor.shape.size() <= 16 ? "shape " + shape_text(tensor.shape)
                                      : "rank " + std::to_string(tensor.shape.size());
    if (!size) {
      refuse_tensor("a shape of whole bytes whose size fits in 63 bits", what, tensor);
    }
    refuse_tensor(std::to_string(*size) + " bytes for " + what,
                  std::to_string(end - begin) + " by data_offsets " + offsets, tensor);
  }

  void check_names() {
    auto const& tensors = file_.tensors;
    std::sort(placements_.begin(), placements_.end(),
              [&tensors](Placement const& left, Placement const& right) {
                return tensors[left.index].name < tensors[right.index].name;
              });
    for (std::size_t index = 1; index < placements_.size(); ++index) {
      std::string const& name = tensors[placements_[index].index].name;
      if (name == tensors[placements_[index - 1].index].name) {
        json_.refuse("unique tensor names", in_quotes(name) + " twice");
      }
    }
  }

  // Contiguous from 0 to the end: no hole to hide data in, no overlap to unfold a small file with.
  void check_offsets() {
    auto const& tensors = file_.tensors;
    std::sort(placements_.begin(), placements_.end(),
              [&tensors](Placement const& left, Placement const& right) {
                if (left.begin != right.begin) return left.begin < right.begin;
                if (left.end != right.end) return left.end < right.end;
                return tensors[left.index].name < tensors[right.index].name;
              });
    std::uint64_t reached = 0;
    for (Placement const& placement : placements_) {
      if (placement.begin != reached) {
        refuse_tensor("data that begins at byte " + std::to_string(reached) +
                          " after the header, where the one before it ends",
                      std::to_string(placement.begin), tensors[placement.index]);
      }
      reached = placement.end;
    }
    if (reached != data_bytes_) {
      json_.refuse(std::to_string(reached) + " bytes of tensors after the header",
                   std::to_string(data_bytes_));
    }
  }

  // Follows the cycles of the permutation: a second array of tensors would cost memory.
  void order_by_offset() {
    for (std::size_t first = 0; first < placements_.size(); ++first) {
      std::size_t current = first;
      while (placements_[current].index != first) {
        std::size_t const next = placements_[current].index;
        std::swap(file_.tensors[current], file_.tensors[next]);
        placements_[current].index = current;
        current = next;
      }
      placements_[current].index = current;
    }
  }

  [[noreturn]] void refuse_tensor(std::string const& expected, std::string const& got,
                                  StoredTensor const& tensor) const {
    json_.refuse(expected, got + " for tensor " + in_quotes(tensor.name));
  }

  static constexpr std::uint64_t offset_limit =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

  JsonHeader json_;
  std::uint64_t data_bytes_ = 0;
  TensorFile file_;
  std::vector<Placement> placements_;
  bool metadata_seen_ = false;
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
