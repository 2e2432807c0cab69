#include "body.h"
#include <cppunit/extensions/HelperMacros.h>
#include <cppunit/extensions/TestFactoryRegistry.h>
#include <cppunit/ui/text/TestRunner.h>
struct Two : CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(Two);
  CPPUNIT_TEST(count);
  CPPUNIT_TEST(flag);
  CPPUNIT_TEST_SUITE_END();
  void count() {
    CPPUNIT_ASSERT_EQUAL(2, counted()); // count
  }
  void flag() {
    CPPUNIT_ASSERT(!flagged()); // flag
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(Two);

int main() {
  CppUnit::TextUi::TestRunner r;
  r.addTest(CppUnit::TestFactoryRegistry::getRegistry().makeTest());
  return !r.run();
}
