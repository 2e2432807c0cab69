#define CATCH_CONFIG_MAIN
#include "body.h"
#include <catch2/catch.hpp>
TEST_CASE("count") {
  REQUIRE(counted() == 2); // count
}
TEST_CASE("flag") {
  CHECK_FALSE(flagged()); // flag
}
