package smt

import (
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

func TestSolve(t *testing.T) {
	t.Parallel()
	need.Tool(t, "z3")
	s := Find(time.Minute)
	if s == nil {
		t.Fatal("z3 is in PATH and was not found")
	}
	const script = "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (< 3 x 5))\n%(check-sat)\n(get-value (x))\n"
	for _, test := range []struct{ more, want string }{
		{"", "sat\n((x 4))\n"},
		{"(assert (distinct x 4))\n", "unsat\n"},
	} {
		got, err := s.Solve(t.Context(), strings.Replace(script, "%", test.more, 1))
		if err != nil || !strings.HasPrefix(got, test.want) {
			t.Errorf("with %q: %q, %v; want %q", test.more, got, err, test.want)
		}
	}
	if _, err := s.Solve(t.Context(), "(check-sat-please)"); err == nil {
		t.Error("no error for a script that is not SMT-LIB")
	}
}
