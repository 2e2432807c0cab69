#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "body.h"
#include <doctest/doctest.h>
TEST_CASE("count") {
  CHECK(counted() == 2); // count
}
TEST_CASE("flag") {
  REQUIRE(flagged() == 0); // flag
}
