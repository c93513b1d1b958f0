# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Component phyllo::wgmma: device code for sm_90a. A Kokkos with Kokkos_ARCH_HOPPER90 makes every target
# that uses it compile for sm_90, which lacks the instruction wgmma, and has no option for sm_90a. One
# program has one architecture, so Kokkos' CMake targets are changed to sm_90a. Kokkos' library is unchanged.

# phyllo_compile_for_sm_90a(<variable>): whether this Kokkos is one for the architecture
function(phyllo_compile_for_sm_90a found)
  set(${found} FALSE PARENT_SCOPE)
  foreach(target IN ITEMS Kokkos::kokkos Kokkos::kokkoscore)
    if(NOT TARGET ${target})
      continue()
    endif()
    get_target_property(aliased ${target} ALIASED_TARGET)
    if(aliased)
      set(target ${aliased})
    endif()
    foreach(property IN ITEMS INTERFACE_COMPILE_OPTIONS INTERFACE_LINK_OPTIONS)
      get_target_property(options ${target} ${property})
      if(options MATCHES "code=sm_90a|-arch=sm_90([;>]|$)")
        string(REGEX REPLACE "-arch=sm_90([;>]|$)" "-gencode=arch=compute_90a,code=sm_90a\\1"
          options "${options}")
        set_property(TARGET ${target} PROPERTY ${property} "${options}")
        set(${found} TRUE PARENT_SCOPE)
      endif()
    endforeach()
  endforeach()
  # Where Kokkos leaves the architecture to CMake's own CUDA language.
  if(CMAKE_CUDA_ARCHITECTURES MATCHES "^90a(-real|-virtual)?$")
    set(${found} TRUE PARENT_SCOPE)
  endif()
endfunction()
