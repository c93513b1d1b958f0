// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "drawn_network.hpp"

#include <phyllo/fusion/rules.hpp>

#include <cstdint>

namespace phyllo::test {

/// Numbers of a seeded generator (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014).
class Draw {
 public:
  Draw(std::uint64_t seed, long number)
      : state_(seed * 0x9e3779b97f4a7c15u ^ std::uint64_t(number) * 0xd1342543de82ef95u) {}

  int below(int n) {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return int((x ^ (x >> 31)) % std::uint64_t(n));
  }
  bool one_in(int n) { return below(n) == 0; }
  template <int N> int of(int const (&list)[N]) { return list[below(N)]; }

 private:
  std::uint64_t state_;
};

/// Draws a network part by part. It is biased to the edges of rules: extents of one to three,
/// windows as large as their input, strides larger than windows, padding on one tap, widths around
/// 16 and 128, runs of 15 to 17 layers, totals around the limits of segments.
class NetworkDrawer {
 public:
  NetworkDrawer(std::uint64_t seed, long number) : draw_(seed, number) {}

  Description run() {
    while (!(draw_.one_in(6) ? add_table(true) : add(input()))) continue;
    int const parts = 1 + draw_.below(draw_.one_in(4) ? 24 : 9);
    if (draw_.one_in(6)) deep();
    if (draw_.one_in(3)) images();
    bool const recomputes = draw_.one_in(3);
    for (int i = 0; i < parts && lowering_.graph.size + 8 < most_nodes; ++i) {
      if (recomputes && draw_.one_in(3)) add(plain(PartKind::recompute, draw_.below(2)));
      some();
    }
    if (draw_.one_in(3)) head();
    if (reads_integers()) look_up();
    while (lowering_.graph.depth > 0) add(plain(PartKind::recompute, 0));
    // A network of an input alone has no work.
    if (lowering_.graph.size < 2) add(pointwise());
    return description_;
  }

 private:
  Draw draw_;
  Description description_;
  Lowering lowering_;

  Shape shape() const { return lowering_.shape(lowering_.current); }

  // Adds a part where the network stays one.
  bool add(Part const& part) {
    Lowering next = lowering_;
    next.append(part);
    if (!next.valid || shape_too_large(next)) return false;
    lowering_ = next;
    description_.push_back(part);
    return true;
  }
  static bool shape_too_large(Lowering const& l) {
    return l.nodes.node[l.current].parameter[0].count > (1 << 22) ||
           l.shape(l.current).size() > (1 << 16);
  }

  int channels() {
    static constexpr int few[] = {1, 1, 2, 3, 4, 6, 8};
    static constexpr int edges[] = {15, 16, 17, 31, 32, 64, 120, 127, 128, 128, 129, 200};
    return draw_.one_in(2) ? draw_.of(few) : draw_.of(edges);
  }
  int extent() {
    static constexpr int extents[] = {1, 1, 1, 2, 2, 3, 3, 4, 5, 8};
    static constexpr int large[] = {16, 22, 28, 32};
    return draw_.one_in(12) ? draw_.of(large) : draw_.of(extents);
  }
  Part input() {
    Part p;
    p.kind = PartKind::input;
    static constexpr int ranks[] = {0, 0, 1, 2, 2, 3};
    p.rank = draw_.of(ranks);
    p.number = p.rank == 0 || draw_.one_in(4) ? channels() : 1 + draw_.below(6);
    for (int d = 3 - p.rank; d < 3; ++d) p.size[d] = extent();
    return p;
  }
  bool reads_integers() const { return lowering_.is_integer(lowering_.current); }
  Part table() {
    Part p;
    p.kind = PartKind::lookup;
    static constexpr int entries[] = {1, 1, 2, 5, 17, 1000};
    p.number = channels();
    p.size[0] = draw_.of(entries);
    return p;
  }
  // Integers and their table, or a second table of an input that was saved.
  bool add_table(bool first) {
    Part p = input();
    p.kind = PartKind::integer_input;
    if (p.rank > 0) p.number = 1;
    if (!add(p)) return false;
    if (!first || draw_.one_in(2)) add(plain(PartKind::save, draw_.below(most_saved)));
    look_up();
    return true;
  }
  // A table; where that is too large, one of one number, so that no network ends with integers.
  void look_up() {
    Part p = table();
    if (add(p)) return;
    p.number = p.size[0] = 1;
    add(p);
  }
  Part scan() {
    Part p = plain(PartKind::scan, draw_.below(3));
    p.bias = draw_.one_in(2);
    return p;
  }
  void attend(int keys) {
    Part p = plain(PartKind::attention, keys);
    p.bias = draw_.one_in(2);
    add(p);
  }
  Part normalization() {
    if (draw_.one_in(2)) return plain(PartKind::normalization);
    if (draw_.one_in(3)) {
      Part p = plain(PartKind::group_normalization, 1 + draw_.below(4));
      if (shape().channels % p.number != 0) p.number = shape().channels;
      p.bias = !draw_.one_in(3);
      return p;
    }
    Part p = plain(PartKind::row_normalization, draw_.below(2));
    p.bias = !draw_.one_in(3);
    return p;
  }
  Part linear(int outputs) {
    Part p;
    p.kind = PartKind::linear;
    p.number = outputs;
    p.bias = !draw_.one_in(4);
    return p;
  }
  // A window on the current value: of one to three taps, as large as the value, or larger by the
  // padding.
  Part window(PartKind kind) {
    Part p;
    p.kind = kind;
    p.rank = shape().rank;
    p.bias = !draw_.one_in(4);
    bool const whole = draw_.one_in(4);
    for (int d = 3 - p.rank; d < 3; ++d) {
      int const here = shape().spatial[d];
      p.padding[d] = draw_.below(3);
      p.size[d] = whole ? here : 1 + draw_.below(4);
      if (whole && draw_.one_in(2)) p.padding[d] = 0;
      if (draw_.one_in(8)) p.size[d] = here + 2 * p.padding[d];
      p.stride[d] = draw_.one_in(2) ? 1 : 1 + draw_.below(4);
    }
    if (kind == PartKind::pooling)  // windows of one size, padding at most half of it
      for (int d = 3 - p.rank; d < 3; ++d) {
        p.size[d] = p.size[3 - p.rank];
        if (2 * p.padding[d] > p.size[d]) p.padding[d] = p.size[d] / 2;
      }
    p.number = kind == PartKind::pooling ? draw_.below(2) : channels();
    return p;
  }
  Part reduction() {
    Part p = plain(PartKind::reduction, draw_.below(3));
    p.rank = shape().rank;
    for (int d = 3 - p.rank; d < 3; ++d)
      p.size[d] = draw_.one_in(2) ? shape().spatial[d] : 1 + draw_.below(3);
    p.bias = p.rank > 0 && !draw_.one_in(3);
    return p;
  }
  Part pointwise() {
    Part p;
    p.kind = PartKind::pointwise;
    p.number = draw_.below(3);
    return p;
  }
  static Part plain(PartKind kind, int number = 0) {
    Part p;
    p.kind = kind;
    p.number = number;
    return p;
  }

  // A contraction that fits the current value, often with what follows one.
  void layer(int outputs) {
    if (shape().rank == 0) {
      add(linear(outputs));
    } else if (draw_.one_in(3)) {
      add(plain(PartKind::flatten));
      add(linear(outputs));
    } else {
      Part p = window(PartKind::convolution);
      p.number = outputs;
      add(p);
    }
    if (draw_.one_in(5)) add(normalization());
    while (draw_.one_in(2)) add(pointwise());
  }

  // 14 to 18 layers of one width, which meet the limits of layers and of parameters.
  void deep() {
    if (shape().rank > 0) add(plain(PartKind::flatten));
    int const width = channels(), layers = 7 + draw_.below(12);
    bool const norms = draw_.one_in(3), sums = draw_.one_in(4);
    for (int i = 0; i < layers && lowering_.graph.size + 8 < most_nodes; ++i) {
      if (sums && i % 4 == 1) add(plain(PartKind::save, 0));
      add(linear(width));
      if (norms && draw_.one_in(2)) add(normalization());
      if (draw_.one_in(3)) add(pointwise());
      if (sums && i % 4 == 3) add(plain(PartKind::add, 0));
    }
  }

  // Convolutions and poolings of a few channels, and Linear layers behind them.
  void images() {
    for (int i = draw_.below(4); i >= 0; --i) {
      if (shape().rank == 0) return;
      Part p = window(draw_.one_in(3) ? PartKind::pooling : PartKind::convolution);
      if (p.kind == PartKind::convolution) p.number = 1 + draw_.below(20);
      add(p);
      if (draw_.one_in(2)) add(pointwise());
    }
    head();
  }

  // Linear layers at the end, as most networks have.
  void head() {
    if (shape().rank > 0) add(plain(PartKind::flatten));
    add(linear(channels()));
    if (draw_.one_in(2)) {
      add(pointwise());
      add(linear(1 + draw_.below(10)));
    }
  }

  void residual() {
    int const tag = draw_.below(most_saved);
    Shape const before = shape();
    add(plain(PartKind::save, tag));
    if (before.rank == 0) {
      add(linear(before.channels));
    } else {
      Part p = window(PartKind::convolution);
      p.number = before.channels;
      for (int d = 0; d < 3; ++d) p.stride[d] = 1, p.size[d] = 2 * p.padding[d] + 1;
      add(p);
    }
    if (draw_.one_in(2)) add(normalization());
    if (draw_.one_in(3)) add(pointwise());
    add(plain(PartKind::add, tag));
    if (draw_.one_in(2)) add(pointwise());
  }

  // A maximum and, behind other layers, its windows' values back at their places.
  void unpool() {
    if (shape().rank == 0) return;
    int const tag = draw_.below(most_saved);
    Part p = window(PartKind::pooling);
    p.number = 0;
    for (int d = 0; d < 3; ++d) p.stride[d] = p.size[d] + draw_.below(2);
    add(plain(PartKind::save, tag));
    if (!add(p)) return;
    if (draw_.one_in(2)) add(pointwise());
    if (draw_.one_in(3)) add(normalization());
    p.kind = PartKind::unpooling;
    p.number = tag;
    add(p);
  }

  void some() {
    int const tag = draw_.below(most_saved);
    if (reads_integers()) {
      look_up();
      return;
    }
    switch (draw_.below(31)) {
      case 30:
        unpool();
        return;
      case 26:
        add(plain(PartKind::map, draw_.below(4)));
        return;
      case 27:
        add(plain(PartKind::multiply, tag));
        return;
      case 28:
        attend(draw_.one_in(2) ? -1 : tag);
        return;
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
        layer(channels());
        return;
      case 6:
      case 7:
        residual();
        return;
      case 8:
      case 9:
        add(window(PartKind::pooling));
        return;
      case 10:
        add(draw_.one_in(2) ? plain(PartKind::global_pooling) : reduction());
        return;
      case 11:
      case 12:
        add(pointwise());
        return;
      case 13:
        add(normalization());
        return;
      case 14:
        add(plain(PartKind::softmax));
        return;
      case 15:
        add(plain(PartKind::upsample, 1 + draw_.below(3)));
        return;
      case 16:
        add(plain(PartKind::flatten));
        return;
      case 17:
        add(plain(PartKind::save, tag));
        return;
      case 18:
        add(plain(PartKind::from, tag));
        return;
      case 19:
        add(plain(PartKind::add, tag));
        return;
      case 20:
        add(plain(PartKind::concat, tag));
        return;
      case 21:
        add(plain(PartKind::join, 2 + draw_.below(2)));
        return;
      case 22:
        add(plain(PartKind::output));
        return;
      case 23:
      case 24:  // of so many channels as there are, or one: often stored as it is
        add(plain(PartKind::reshape, draw_.one_in(2)   ? 1
                                     : draw_.one_in(2) ? shape().channels
                                                       : draw_.below(3)));
        return;
      case 25:
        add(scan());
        return;
      default:
        if (draw_.one_in(2)) {
          add(plain(PartKind::save, tag));  // else what was before it is dead
          if (draw_.one_in(3))
            add_table(false);
          else
            add(input());
        }
    }
  }
};

inline Description draw(std::uint64_t seed, long number) {
  return NetworkDrawer(seed, number).run();
}

}  // namespace phyllo::test
