// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <hdf5.h>

#include <mutex>
#include <string>

namespace phyllo {

/// The lock that Phyllo holds during each of its calls of HDF5, which is not thread-safe as most
/// sites build it (H5is_library_threadsafe). Where it is not, hold this lock while your program
/// calls HDF5 and batches are prefetched: their thread calls HDF5, too.
// One per process, hence outside the namespace of the instruction set.
inline std::recursive_mutex& hdf5_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace phyllo

namespace phyllo::inline PHYLLO_ISA::detail {

// Exists while HDF5 is called: holds the lock, and HDF5 prints nothing when a call fails.
class Hdf5Call {
 public:
  Hdf5Call() : lock_(hdf5_mutex()) {
    H5Eauto_is_v2(H5E_DEFAULT, &is_version_2_);
    if (is_version_2_ != 0) {
      H5Eget_auto2(H5E_DEFAULT, &report_, &data_);
      H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
      return;
    }
#ifndef H5_NO_DEPRECATED_SYMBOLS
    H5Eget_auto1(&report_1_, &data_);
    H5Eset_auto1(nullptr, nullptr);
#endif
  }
  Hdf5Call(Hdf5Call const&) = delete;
  Hdf5Call& operator=(Hdf5Call const&) = delete;
  ~Hdf5Call() {
    H5Eclear2(H5E_DEFAULT);
    if (is_version_2_ != 0) {
      H5Eset_auto2(H5E_DEFAULT, report_, data_);
      return;
    }
#ifndef H5_NO_DEPRECATED_SYMBOLS
    H5Eset_auto1(report_1_, data_);
#endif
  }

  // Why the last call failed, in HDF5's words: the error that came first.
  std::string reason() const {
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &text);
    return text.empty() ? "an error without a description" : text;
  }

 private:
  static herr_t take_first(unsigned number, H5E_error2_t const* error, void* text) {
    if (number == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
    return 0;
  }

  std::lock_guard<std::recursive_mutex> lock_;
  unsigned is_version_2_ = 1;
  H5E_auto2_t report_ = nullptr;  // the program's
#ifndef H5_NO_DEPRECATED_SYMBOLS
  H5E_auto1_t report_1_ = nullptr;
#endif
  void* data_ = nullptr;
};

// An identifier of HDF5, which is closed with the last reference to it.
class Hdf5Handle {
 public:
  explicit Hdf5Handle(hid_t id = H5I_INVALID_HID) : id_(id) {}
  Hdf5Handle(Hdf5Handle const&) = delete;
  Hdf5Handle& operator=(Hdf5Handle const&) = delete;
  ~Hdf5Handle() { reset(); }

  hid_t get() const { return id_; }
  bool is_valid() const { return id_ >= 0; }
  void reset(hid_t id = H5I_INVALID_HID) {
    if (id_ >= 0) {
      Hdf5Call const call;
      H5Idec_ref(id_);
    }
    id_ = id;
  }

 private:
  hid_t id_;
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
