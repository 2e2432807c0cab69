package expectation

import "testing"

func TestSuite(t *testing.T) {
	for _, test := range []struct{ name, output, want string }{
		{"none", "Running Suite: X\n=====\nRan 4 of 4 Specs\nOK: 4 passed\n", ""},
		{
			"gocheck", "\n----------------------------------------------------------------------\nFAIL: x_test.go:38: S.TestSum\n\nx_test.go:39:\n    c.Assert(sum(), Equals, 2, Commentf(\"the sum\"))\n... obtained int = 1\n... expected int = 2\n... the sum\n\n\n----------------------------------------------------------------------\nFAIL: x_test.go:42: S.TestTrue\n\nx_test.go:44:\n    c.Fatalf(\"wrong\")\n... Error: wrong\n\nOOPS: 1 passed, 2 FAILED\n",
			`c.Assert(sum(), Equals, 2, Commentf("the sum")): obtained int = 1, expected int = 2, the sum at x_test.go:39`,
		},
		{
			"gocheck, an error in several lines of code", "FAIL: x_test.go:47: S.TestError\n\nx_test.go:49:\n    if sum() != 2 {\n        c.Error(\"an error\")\n    }\n... Error: an error\n\nx_test.go:50:\n    c.Check(err, NotNil)\n... value = nil\n\n",
			"an error at x_test.go:49",
		},
		{
			"gocheck, panic", "PANIC: x_test.go:20: S.TestPanic\n\n... Panic: boom (PC=0x47A2B3)\n\n/usr/local/go/src/runtime/panic.go:860\n  in gopanic\n",
			"panic: boom",
		},
		{
			"Ginkgo 2", "\x1b[38;5;9m• [FAILED] [0.000 seconds]\x1b[0m\n\x1b[0mSum \x1b[38;5;9m\x1b[1m[It] adds\x1b[0m\n\x1b[38;5;243m/src/x_test.go:38\x1b[0m\n\n  \x1b[38;5;9m[FAILED] the sum\n  Expected\n      <int>: 1\n  to equal\n      <int>: 2\x1b[0m\n  \x1b[38;5;9mIn \x1b[1m[It]\x1b[0m\x1b[38;5;9m at: \x1b[1m/src/x_test.go:39\x1b[0m \x1b[38;5;243m@ 11/27/26 21:03:18.177\x1b[0m\n",
			"the sum Expected <int>: 1 to equal <int>: 2 at x_test.go:39",
		},
		{
			"Ginkgo 2, panic", "• [PANICKED] [0.000 seconds]\nSum [It] panics\n/src/x_test.go:46\n\n  [PANICKED] Test Panicked\n  In [It] at: /src/x_test.go:48 @ 11/27/26 21:03:18.177\n\n  boom\n\n  Full Stack Trace\n",
			"panic: boom at x_test.go:48",
		},
		{
			"Ginkgo 1", "•\n------------------------------\n• Failure [0.000 seconds]\nSum\n/src/x_test.go:36\n  adds [It]\n  /src/x_test.go:38\n\n  the sum\n  Expected\n      <int>: 1\n  to equal\n      <int>: 2\n\n  /src/x_test.go:39\n------------------------------\n",
			"the sum Expected <int>: 1 to equal <int>: 2 at x_test.go:39",
		},
		{
			"Ginkgo 1, panic", "•! Panic [0.000 seconds]\nSum\n/src/x_test.go:36\n  panics [It]\n  /src/x_test.go:46\n\n  Test Panicked\n  boom\n  /src/x_test.go:48\n\n  Full Stack Trace\n",
			"panic: boom at x_test.go:48",
		},
	} {
		got := Suite([]byte(test.output))
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if h := Headline(got); h != got {
			t.Errorf("%s: its headline is %q", test.name, h)
		}
	}
}
