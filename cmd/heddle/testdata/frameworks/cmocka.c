#include "body.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
static void count(void **state) {
  (void)state;
  assert_int_equal(counted(), 2); // count
}
static void flag(void **state) {
  (void)state;
  assert_false(flagged()); // flag
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(count), cmocka_unit_test(flag)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
