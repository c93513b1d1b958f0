// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <phyllo/network/graph.hpp>

using namespace phyllo;

namespace {
struct first;
struct second;
}  // namespace

TEST_CASE("leaves are appended with their sources") {
  Graph<3> graph;
  CHECK(graph.append(-1) == 0);
  CHECK(graph.append(0) == 1);
  CHECK(graph.append(1, 0) == 2);
  CHECK(graph.source_count[1] == 1);
  CHECK(graph.source_count[2] == 2);
  CHECK(graph.sources[2][0] == 1);
  CHECK(graph.sources[2][1] == 0);
}

TEST_CASE("the latest value of a name is found") {
  Graph<1> graph;
  CHECK(tag_id<first> != tag_id<second>);
  graph.save(tag_id<first>, 3);
  graph.save(tag_id<second>, 4);
  CHECK(graph.read(tag_id<first>) == 3);
  graph.save(tag_id<first>, 5);
  CHECK(graph.read(tag_id<first>) == 5);
  CHECK(graph.find(tag_id<second>) == 4);
  CHECK(graph.mistake == TagMistake::none);
}

TEST_CASE("the first mistake is kept, and leaf 0 stands in") {
  Graph<2> graph;
  graph.append(-1);
  CHECK(graph.find(tag_id<first>) == -1);
  CHECK(graph.mistake == TagMistake::none);
  CHECK(graph.read(tag_id<first>) == 0);
  graph.append(0);
  CHECK(graph.read(tag_id<second>) == 0);
  CHECK(graph.mistake == TagMistake::unknown);
  CHECK(graph.mistaken == tag_id<first>);
  CHECK(graph.mistaken_at == 1);
}

TEST_CASE("an output has one name, and the tables have an end") {
  Graph<1> twice;
  twice.mark_output(tag_id<first>, 0);
  twice.mark_output(tag_id<second>, 0);
  CHECK(twice.outputs == 2);
  twice.mark_output(tag_id<first>, 0);
  CHECK(twice.outputs == 2);
  CHECK(twice.mistake == TagMistake::output_twice);

  Graph<1> full;
  int tag[Graph<1>::max_tags];
  for (int& t : tag) full.save(&t, 0);
  full.save(&tag[3], 5);  // a tag that is used again takes no room
  CHECK(full.find(&tag[3]) == 5);
  CHECK(full.mistake == TagMistake::none);
  full.save(tag_id<second>, 0);
  CHECK(full.mistake == TagMistake::too_many);
  CHECK(full.mistaken == tag_id<second>);
}
