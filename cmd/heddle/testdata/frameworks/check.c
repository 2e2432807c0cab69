#include "body.h"
#include <check.h>
START_TEST(count) {
  ck_assert_int_eq(counted(), 2); // count
}
END_TEST
START_TEST(flag) {
  ck_assert(!flagged()); // flag
}
END_TEST

int main(void) {
  Suite *s = suite_create("two");
  TCase *c = tcase_create("core");
  tcase_add_test(c, count);
  tcase_add_test(c, flag);
  suite_add_tcase(s, c);
  SRunner *r = srunner_create(s);
  srunner_set_fork_status(r, CK_NOFORK);
  srunner_run_all(r, CK_NORMAL);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed > 0;
}
