// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/policy/communication.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Whether ranks that hold other numbers than each other after `load` or `initialize` are found.
/// Not where they differ on purpose: policies that exchange weights average them.
template <class C> inline constexpr bool compares_ranks = !ExchangesWeights<C>;

/// Whether an update looks for a change on any rank. Where a device's runtime records steps, the
/// host waits for nothing: such ranks are compared by `evaluate`.
template <class C, class Space>
inline constexpr bool compares_each_step =
    compares_ranks<C> && !std::is_same_v<C, Local> &&
    (!is_recordable<C> ||
     Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible);

/// A sum over numbers and their places that no order of threads changes.
///
/// source   the mixing function of splitmix64: Steele et al., OOPSLA 2014
template <class T> struct HashNumbers {
  T const* data = nullptr;

  static PHYLLO_INLINE std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  KOKKOS_FUNCTION void operator()(long i, std::uint64_t& sum) const {
    auto const bits = Kokkos::bit_cast<std::uint64_t>(double(data[i]));
    sum += mixed(bits ^ mixed(std::uint64_t(i) + 0x9e3779b97f4a7c15u));
  }
};

namespace detail {

template <class Space, class View> std::uint64_t hash_of(Space const& exec, View const& view) {
  using T = std::remove_const_t<typename View::value_type>;
  std::uint64_t sum = 0;
  if (view.size() == 0) return sum;
  Kokkos::parallel_reduce(
      "phyllo: hash of what ranks hold",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<long>>(exec, 0, long(view.size())),
      HashNumbers<T>{view.data()}, sum);
  exec.fence("phyllo: hash of what ranks hold");
  return sum;
}

/// `parts` of every rank, of any policy's or transport's sum: a rank adds zeros to the others'.
template <class Space, class C, int Parts>
std::vector<std::uint64_t> of_all_ranks(Space const& exec, C& communication,
                                        std::uint64_t const (&parts)[Parts]) {
  long const count = 2L * Parts * communication.size();  // halves, which a double holds exactly
  Kokkos::View<double*, Kokkos::HostSpace> const host("phyllo: hashes of ranks",
                                                      std::size_t(count));
  for (int k = 0; k < 2 * Parts; ++k)
    host(std::size_t(2 * Parts * communication.rank() + k)) =
        double((parts[k / 2] >> (k % 2 * 32)) & 0xffffffffu);
  auto const data = Kokkos::create_mirror_view(typename Space::memory_space{}, host);
  Kokkos::deep_copy(exec, data, host);
  communication.sum(exec, data.data(), count);
  Kokkos::deep_copy(exec, host, data);
  exec.fence("phyllo: hashes of ranks");
  std::vector<std::uint64_t> all(std::size_t(count / 2));
  for (std::size_t k = 0; k < all.size(); ++k)
    all[k] = std::uint64_t(host(2 * k)) | std::uint64_t(host(2 * k + 1)) << 32;
  return all;
}

/// Whether ranks have chosen other groups or frozen tensors than each other. Collective.
template <class Space, class O, class C>
bool choose_otherwise(Space const& exec, O const& optimizer, C& communication) {
  std::uint64_t const parts[1] = {optimizer.choices()};
  auto const all = of_all_ranks(exec, communication, parts);
  for (std::uint64_t const choices : all)
    if (choices != all[0]) return true;
  return false;
}

}  // namespace detail

/// Refuses ranks that hold other numbers than rank 0: weights, buffers where they are those of all
/// ranks, the optimizer's state, step, rate, groups, frozen tensors and loss scale.
/// Collective; the same Error on all ranks. Where ranks share parameters, the optimizer's state is
/// each rank's own.
///
/// options  Policy: the communication policy · C: it, or its transport
///          in_step: a forward has changed running statistics, which a refusal restores
/// cost     one pass over the numbers, one sum of ten numbers a rank
template <class Policy, class M, class O, class C>
void compare_ranks(typename M::space const& exec, M& model, O const& optimizer, C& communication,
                   bool in_step) {
  constexpr int count_of_parts = 5;
  static constexpr char const* names[count_of_parts] = {"weights", "buffers", "optimizer state",
                                                        "step, rate or loss scale",
                                                        "groups or frozen tensors"};
  std::uint64_t parts[count_of_parts] = {detail::hash_of(exec, model.parameters())};
  if constexpr (M::precision::has_master && !SharesParameters<Policy>)
    parts[0] += detail::hash_of(exec, model.master()) * 3;
  // Constants are always those of all ranks; running statistics only under some policies.
  constexpr std::size_t first = M::has_common_buffers ? 0 : M::nodes.statistics_size;
  parts[1] = detail::hash_of(
      exec, Kokkos::subview(model.buffers(), std::pair(first, model.buffers().size())));
  if constexpr (!SharesParameters<Policy>) parts[2] = detail::hash_of(exec, optimizer.state());
  StepState state;
  Kokkos::deep_copy(exec,
                    Kokkos::View<StepState, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&state),
                    model.state());
  exec.fence("phyllo: state of ranks");
  parts[3] = (state.step << 32) + Kokkos::bit_cast<std::uint32_t>(state.loss_scale) +
             HashNumbers<double>::mixed(Kokkos::bit_cast<std::uint64_t>(state.rate));
  parts[4] = optimizer.choices();
  auto const all = detail::of_all_ranks(exec, communication, parts);
  std::string what, ranks;
  bool differs = false;  // in the last part, after the loop
  for (std::size_t part = 0; part < count_of_parts; ++part) {
    differs = false;
    for (std::size_t k = part; k < all.size(); k += count_of_parts) differs |= all[k] != all[part];
    if (differs) what += (what.empty() ? "other " : " and ") + std::string(names[part]);
  }
  model.note_comparison();
  if (what.empty()) return;
  int count = 0;
  for (int r = 1; r < communication.size(); ++r) {
    bool is_other = false;
    for (std::size_t part = 0; part < count_of_parts; ++part)
      is_other |= all[std::size_t(count_of_parts * r) + part] != all[part];
    if (!is_other) continue;
    if (++count <= 8) ranks += (count > 1 ? ", " : "") + std::to_string(r);
  }
  if (count > 8) ranks += " and " + std::to_string(count - 8) + " more";
  if (in_step) Kokkos::deep_copy(exec, model.buffers(), model.buffers_before());
  model.weights_changed(exec);  // the next step compares once more
  throw Error(model.name() + ": expected the same numbers on all " +
              std::to_string(communication.size()) +
              " ranks after load, initialize or weights_changed on some of them, got " + what +
              " on rank" + (count > 1 ? "s " : " ") + ranks +
              " than on rank 0. Load or initialize on every rank, or call trainer.broadcast(rank) "
              "for what one of them holds" +
              (differs ? "; set groups and frozen tensors alike on every rank." : "."));
}

}  // namespace phyllo::inline PHYLLO_ISA
