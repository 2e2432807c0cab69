#include "body.h"
#include <glib.h>
static void count(void) {
  g_assert_cmpint(counted(), ==, 2); // count
}
static void flag(void) {
  g_assert_false(flagged()); // flag
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_set_nonfatal_assertions();
  g_test_add_func("/count", count);
  g_test_add_func("/flag", flag);
  return g_test_run();
}
