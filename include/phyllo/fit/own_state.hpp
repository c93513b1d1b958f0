// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fit/agreed_clock.hpp>
#include <phyllo/fit/stored_numbers.hpp>
#include <phyllo/policy/communication.hpp>
#include <phyllo/policy/stored_state.hpp>
#include <phyllo/train/trainer.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Whether a policy keeps numbers of its own between steps.
template <class C>
inline constexpr bool has_own_state = ExchangesWeights<C> || gradients_are_late<C>;
/// Whether checkpoints of a policy are complete.
template <class C> inline constexpr bool has_checkpoints = !has_own_state<C> || StoresState<C>;

namespace detail {

// What a rank has of its own in training, as tensor phyllo.own.rank<r> of a checkpoint: the count
// of the policy's numbers and these; where ranks have weights of their own, also the state of the
// step, weights, the rule's numbers and buffers, as words, and the missed steps of frozen tensors.
// Late gradients are the same on all ranks, and only rank 0's are stored.
template <class T> class OwnState {
  using M = typename T::ModelType;
  using C = typename T::communication_type;
  using A = typename M::accumulate;
  using S = typename M::precision::storage;
  using Numbers = std::vector<double>;
  static constexpr bool is_kept = has_own_state<C>, has_weights = ExchangesWeights<C>;

 public:
  // Collective: finishes sums that are under way.
  static Numbers of(T& trainer) {
    Numbers all;
    if constexpr (is_kept) {
      Numbers const numbers = trainer.communication().own_state(trainer.exec(), trainer.trained());
      all = {double(numbers.size())};
      all.insert(all.end(), numbers.begin(), numbers.end());
      for_each_array(trainer, [&](void const* data, long bytes) {
        append_words(trainer.exec(), all, data, bytes);
      });
      if (has_weights) {
        auto missed = trainer.optimizer().missed_steps(trainer.exec());
        missed.resize(missed_steps, 0.0);
        all.insert(all.end(), missed.begin(), missed.end());
      }
    }
    return all;
  }
  // None: weights stay as they are, and the policy begins anew.
  static void set(T& trainer, Numbers const& all) {
    if constexpr (is_kept) {
      std::size_t at = all.empty() ? 0 : 1 + std::size_t(all[0]);
      Numbers const numbers(all.begin() + (all.empty() ? 0 : 1), all.begin() + std::ptrdiff_t(at));
      trainer.communication().set_own_state(trainer.exec(), trainer.trained(), numbers);
      if (all.empty()) return;
      for_each_array(trainer, [&](void* data, long bytes) {
        take_words(trainer.exec(), all, at, data, bytes);
      });
      if (has_weights) trainer.model().weights_changed(trainer.exec());
    }
  }
  // Behind `set`: by this rank's own count of steps.
  static void set_missed_steps([[maybe_unused]] T& trainer, [[maybe_unused]] Numbers const& all) {
    if constexpr (is_kept && has_weights)
      if (!all.empty())
        trainer.optimizer().set_missed_steps(
            trainer.exec(), Numbers(all.end() - std::ptrdiff_t(missed_steps), all.end()));
  }
  // Collective.
  static void add(T& trainer, Numbers const& own, TensorFile& file) {
    if constexpr (is_kept) {
      file.metadata.emplace_back(policy, C::name);
      int const rank = trainer.sums().rank();
      for (int r = 0; r < (has_weights ? trainer.sums().size() : 1); ++r) {
        Numbers numbers = own;
        if constexpr (has_weights) {
          if (r != rank) std::fill(numbers.begin(), numbers.end(), 0.0);
          sum_over_ranks(trainer, numbers.data(), long(numbers.size()));
        }
        add_numbers(file, name_of(r), numbers);
      }
    }
  }
  // This rank's; none where the file is of another policy or number of ranks. Not this trainer's
  // -> Error.
  static Numbers in(T& trainer, TensorFile const& file, std::string const& who) {
    Numbers all;
    if constexpr (is_kept) {
      auto const is = [&](char const* key, std::string const& value) {
        std::string const* const found = file.find_metadata(key);
        return found != nullptr && *found == value;
      };
      int const ranks = trainer.sums().size();
      if (!is(policy, C::name) || (has_weights && !is("phyllo.ranks", std::to_string(ranks))))
        return all;
      std::string const name = name_of(has_weights ? trainer.sums().rank() : 0);
      all = numbers_of<double>(file, name, -1, who);
      long arrays = 0;
      for_each_array(trainer, [&](void const*, long bytes) { arrays += words_in(bytes); });
      long const numbers = long(all.size()) - 1 - arrays - (has_weights ? long(missed_steps) : 0);
      bool fits = numbers >= 0 && all[0] == double(numbers);
      if (fits)
        fits = trainer.communication().is_own_state(trainer.trained(),
                                                    {all.begin() + 1, all.begin() + 1 + numbers});
      if (!fits)
        throw Error(who + ": expected \"" + name + "\" of " + C::name + " and this network, got " +
                    std::to_string(all.size()) +
                    " numbers that are not. Resume with the network, precision and policy that "
                    "wrote it, or from another checkpoint.");
    }
    return all;
  }

 private:
  static constexpr char const* policy = "phyllo.policy";
  static constexpr auto missed_steps =
      std::size_t(std::remove_cvref_t<decltype(std::declval<T>().optimizer())>::missed_steps_size);

  static std::string name_of(int rank) { return "phyllo.own.rank" + std::to_string(rank); }
  template <class Visit> static void for_each_array(T& trainer, Visit const& visit) {
    if constexpr (has_weights) {
      auto& model = trainer.model();
      auto const whole = [&](auto const& view) {
        visit(view.data(), long(view.size() * sizeof(*view.data())));
      };
      whole(model.state());
      whole(model.master());
      if constexpr (!std::is_same_v<A, S>) whole(model.parameters());
      whole(trainer.optimizer().state());
      whole(model.buffers());
    }
  }
};

}  // namespace detail
}  // namespace phyllo::inline PHYLLO_ISA
