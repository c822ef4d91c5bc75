// SPDX-License-Identifier: Apache-2.0
#include "controller/client/list_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace berth {
namespace {

using ::testing::HasSubstr;

TEST(ListBounds, ALargeClusterIsWithinThem) {
  ListBounds pods;
  std::size_t token = 0;
  for (std::size_t listed = 0; listed < 150'000; listed += 500)
    ASSERT_EQ(pods.take_page(500, 500 * 20'000, "t" + std::to_string(++token)), "");
  ListBounds large;  // fifty thousand in pages of four: some of them have 1.5 MB
  for (std::size_t listed = 0; listed < 50'000; listed += 4)
    ASSERT_EQ(large.take_page(4, 4 * 20'000, "t" + std::to_string(++token)), "");
  ListBounds stream;
  for (int event = 0; event < 150'000; ++event) ASSERT_EQ(stream.take_event(20'000), "");
}

TEST(ListBounds, EachHasItsWords) {
  EXPECT_THAT(ListBounds().take_page(200'001, 1, "t"), HasSubstr("200000 objects"));
  EXPECT_THAT(ListBounds().take_page(1, (std::size_t{4} << 30) + 1, "t"), HasSubstr("4 GiB"));
  EXPECT_THAT(ListBounds().take_page(1, 1, std::string(8'193, 't')), HasSubstr("8193 bytes"));
  ListBounds again;
  EXPECT_EQ(again.take_page(1, 1, "a"), "");
  EXPECT_EQ(again.take_page(1, 1, "b"), "");
  EXPECT_THAT(again.take_page(1, 1, "a"), HasSubstr("the same continue token again"));
  again.restart();
  EXPECT_EQ(again.take_page(1, 1, "a"), "");
}

TEST(ListBounds, AStreamEndsAsWell) {
  ListBounds stream;
  std::string passed;
  std::size_t events = 0;
  for (; passed.empty() && events < 300'000; ++events) passed = stream.take_event(2);
  EXPECT_THAT(passed, HasSubstr("200000 objects"));
  EXPECT_LE(events, 202'000u);
}

TEST(ListBounds, TextThatIsNeverTheSameIsCounted) {
  ListBounds bounds;
  std::vector<Text> labels;
  std::string passed;
  for (int page = 0; passed.empty() && page < 1'000; ++page) {
    labels.emplace_back(std::string(1 << 20, 'x') + std::to_string(page));
    passed = bounds.take_page(1, 1 << 20, "t" + std::to_string(page));
  }
  EXPECT_THAT(passed, HasSubstr("96 MiB of names, labels and annotations"));
  EXPECT_LE(labels.size(), 97u);
}

}  // namespace
}  // namespace berth
