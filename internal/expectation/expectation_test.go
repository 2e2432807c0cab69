package expectation

import "testing"

// Outputs as the frameworks write them, and as programs do.
func TestFirst(t *testing.T) {
	for _, c := range []struct {
		name, output string
		want         Failed
	}{
		{"GoogleTest", "[ RUN      ] A.Count\ndir/two.cpp:3: Failure\nExpected equality of these values:\n  n\n    Which is: 1\n  2\n[  FAILED  ] A.Count (0 ms)\n[ RUN      ] B.Flag\ndir/two.cpp:7: Failure\nValue of: ok\n",
			Failed{"dir/two.cpp", 3, "Expected equality of these values: n Which is: 1 2", true}},
		{"GoogleTest, two in a row", "two.cpp:3: Failure\nValue of: ok\n  Actual: false\ntwo.cpp:4: Failure\nFailed\n", Failed{"two.cpp", 3, "Value of: ok Actual: false", true}},
		{"GoogleTest, exception", "unknown file: Failure\nC++ exception with description \"x\" thrown in the test body.\n[  FAILED  ] A.Count (0 ms)\n",
			Failed{"", 0, `C++ exception with description "x" thrown in the test body.`, true}},
		{"Catch2", "count\n-----\ntwo.cpp:4\n.....\n\ntwo.cpp:4: FAILED:\n  REQUIRE( n == 2 )\nwith expansion:\n  1 == 2\n\n=====\ntest cases: 1 | 1 failed\n",
			Failed{"two.cpp", 4, "REQUIRE( n == 2 ) with expansion: 1 == 2", true}},
		{"doctest", "=====\ndt.cpp:3:\nTEST CASE:  count\n\ndt.cpp:3: ERROR: CHECK( n == 2 ) is NOT correct!\n  values: CHECK( 1 == 2 )\n",
			Failed{"dt.cpp", 3, "CHECK( n == 2 ) is NOT correct! values: CHECK( 1 == 2 )", true}},
		{"Boost.Test", "Running 1 test case...\nbt.cpp(3): \x1b[1;31;49merror: in \"count\": check n == 2 has failed [1 != 2]\x1b[0;39;49m\n",
			Failed{"bt.cpp", 3, "check n == 2 has failed [1 != 2]", true}},
		{"Check", "Running suite(s): s\n0%: Checks: 1, Failures: 1, Errors: 0\nck.c:2:F:core:count:0: Assertion 'n == 2' failed: n == 1, 2 == 2\n",
			Failed{"ck.c", 2, "Assertion 'n == 2' failed: n == 1, 2 == 2", true}},
		{"cmocka", "[ RUN      ] count\n[  ERROR   ] --- 0x1 != 0x2\n[   LINE   ] --- cm.c:6: error: Failure!\n", Failed{"cm.c", 6, "0x1 != 0x2", true}},
		{"CppUnit", ".F\n\n1) test: T::count (F) line: 4 cu.cpp\nequality assertion failed\n- Expected: 2\n- Actual  : 1\n\n",
			Failed{"cu.cpp", 4, "equality assertion failed - Expected: 2 - Actual  : 1", true}},
		{"Unity", "u.c:12:test_count:PASS\nu.c:20:test_flag:FAIL: Expected 2 Was 1\n", Failed{"u.c", 20, "Expected 2 Was 1", true}},
		{"GLib", "# Start\nnot ok /count - ERROR:g.c:9:count: assertion failed (n == 2): (1 == 2)\n", Failed{"g.c", 9, "assertion failed (n == 2): (1 == 2)", true}},
		{"GLib, not a comparison", "ERROR:g.c:9:flag: 'seen' should be FALSE\n", Failed{"g.c", 9, "'seen' should be FALSE", true}},
		{"Qt Test", "FAIL!  : T::count() Compared values are not the same\n   Loc: [q.cpp(8)]\n", Failed{"q.cpp", 8, "T::count() Compared values are not the same", true}},
		{"a place and a word", "start\nq.c:30: check failed: size is 3\n", Failed{"q.c", 30, "q.c:30: check failed: size is 3", false}},
		{"a word", "1 of 2\ntest A failed\ntest B failed\n", Failed{"", 0, "test A failed", false}},
		{"a comparison", "expected 3 but got 2\n", Failed{"", 0, "expected 3 but got 2", false}},
		{"a framework's line goes before other lines", "connection failed, retrying\ntwo.cpp:4: FAILED:\n  CHECK( x )\n", Failed{"two.cpp", 4, "CHECK( x )", true}},
	} {
		if got, ok := First([]byte(c.output)); !ok || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, ok, c.want)
		}
	}
}

// Lines that blame nothing.
func TestNone(t *testing.T) {
	for _, output := range []string{
		"", "hello\n", "0 failures\n", "failed: 0\n", "no assertions failed\n", "100 tests passed, 0 failed\n", "test of assertions: ok\n",
		"[==========] 2 tests ran.\n[  PASSED  ] 2 tests.\n", "All tests passed (4 assertions in 2 test cases)\n",
		"100%: Checks: 2, Failures: 0, Errors: 0\n", "two.cpp:4: warning: unused\n", "3 tests failed\n", "u.c:12:test_count:PASS\n",
	} {
		if got, ok := First([]byte(output)); ok {
			t.Errorf("%q: %+v", output, got)
		}
	}
}
