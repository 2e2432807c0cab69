#define BOOST_TEST_MODULE two
#include "body.h"
#include <boost/test/included/unit_test.hpp>
BOOST_AUTO_TEST_CASE(count) {
  BOOST_TEST(counted() == 2); // count
}
BOOST_AUTO_TEST_CASE(flag) {
  BOOST_REQUIRE_EQUAL(flagged(), 0); // flag
}
