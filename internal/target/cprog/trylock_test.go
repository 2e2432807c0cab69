package cprog

import (
	"errors"
	"strings"
	"testing"
)

func TestParseTry(t *testing.T) {
	r, err := parseTry("queue.mu[2]@src/./a:b.c:10-14")
	if err != nil || r.lock != "queue.mu[2]" || r.file != "src/a:b.c" || r.from != 10 || r.to != 14 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := parseTry("mu@a.c:7"); err != nil || r.from != 7 || r.to != 7 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, s := range []string{"", "mu", "@a.c:1", "mu@a.c", "mu@:1", "mu@a.c:", "mu@a.c:0", "mu@a.c:5-4", "mu@a.c:1-x", "mu@a.c:1-2-3"} {
		var wrong *TryLockError
		if err := CheckTryLock([]string{s}); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "write it like mu@queue.c:10-14") {
			t.Errorf("%q: %v", s, err)
		}
	}
	if err := CheckTryLock([]string{"mu@a.c:1", "mu@a.c:1"}); err == nil {
		t.Error("a range named twice is accepted")
	}
}

func TestNearestLines(t *testing.T) {
	r := triedRange{from: 10, to: 12}
	for want, lines := range map[string][]int{"line 3": {3}, "lines 8, 9, 13 and 15": {1, 2, 8, 9, 13, 15, 20}} {
		if got := r.nearest(lines); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
