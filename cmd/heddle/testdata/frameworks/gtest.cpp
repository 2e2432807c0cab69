#include "body.h"
#include <gtest/gtest.h>
TEST(A, Count) { EXPECT_EQ(counted(), 2); } // count
TEST(B, Flag) {
  int seen = flagged();
  ASSERT_FALSE(seen) << "seen"; // flag
}
