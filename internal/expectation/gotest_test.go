package expectation

import "testing"

func TestHeadline(t *testing.T) {
	for _, test := range []struct{ message, want string }{
		{"", ""},
		{"\n\n", ""},
		{"sum is 1, not 2\n", "sum is 1, not 2"},
		{"\nsecond line\nthird", "second line"},
		{"sum mismatch (-want +got):\n  int(\n- 2,\n+ 1,\n", "sum mismatch (-want +got): int("},
		{"got: 1", "got: 1"},
		{
			"\n\tError Trace:\t/src/t_test.go:27\n\tError:      \tNot equal: \n\t            \texpected: 2\n\t            \tactual  : 1\n\tTest:       \tTestSum\n\tMessages:   \tthe sum of two increments\n",
			"Not equal: expected: 2, actual: 1 (the sum of two increments)",
		},
		{
			"\n\tError Trace:\t/src/t_test.go:9\n\t            \t\t\t\t/src/t_test.go:27\n\tError:      \tNot equal: \n\t            \texpected: \"ab\"\n\t            \tactual  : \"b\"\n\t            \t\n\t            \tDiff:\n\t            \t--- Expected\n\tTest:       \tTestSum\n",
			`Not equal: expected: "ab", actual: "b"`,
		},
		{"\n\tError Trace:\t/src/t_test.go:9\n\tError:      \tShould be true\n\tTest:       \tTestOpen\n", "Should be true"},
		{"\n\tError Trace:\t/src/t_test.go:9\n\tError:      \tReceived unexpected error:\n\t            \tEOF\n\tTest:       \tTestOpen\n", "Received unexpected error: EOF"},
		{"\nExpected\n    <int>: 1\nto equal\n    <int>: 2", "Expected <int>: 1 to equal <int>: 2"},
		{"Expected\n    <bool>: false\nto be true", "Expected <bool>: false to be true"},
		{"Expected\nsomething else", "Expected"},
		{"Error Trace: something of a test's own", "Error Trace: something of a test's own"},
	} {
		if got := Headline(test.message); got != test.want {
			t.Errorf("%q: %q, want %q", test.message, got, test.want)
		}
	}
}
