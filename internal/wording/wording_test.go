package wording

import (
	"os/exec"
	"testing"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 switches", 1: "1 switch", 2: "2 switches", 999: "999 switches", 1000: "1,000 switches", 1234567: "1,234,567 switches", -1000: "-1,000 switches", -100: "-100 switches"} {
		if got := Count(n, "switch"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for p, want := range map[float64]string{1: "100 %", 0.25: "25 %", 0.0123: "1.2 %", 0.000456: "0.046 %", 0: "0 %"} {
		if got := Percent(p); got != want {
			t.Errorf("%v: %s, want %s", p, got, want)
		}
	}
}

// A shell reads words as they were meant.
func TestQuoted(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed")
	}
	for _, word := range []string{"a", "", "a b", "it's", `"`, "$HOME", "`id`", "a\nb", "*", "-x=y,z@1:2%", "~", "#", "\\", "é"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Quoted(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q is read as %q, %v", word, out, err)
		}
	}
	if got := QuotedWords([]string{"a", "b c"}); got != "a 'b c'" {
		t.Error(got)
	}
}

func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"queue", 5, "queue"}, {"queues", 5, "qu…es"}, {"größer", 4, "g…er"}, {"", 3, ""}} {
		if got := Middle(c.in, c.n); got != c.want {
			t.Errorf("Middle(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestUncoloured(t *testing.T) {
	if got := Line("x.cpp(3): \x1b[1;31;49merror: \x1b[0mbad\x07"); got != "x.cpp(3): error: bad?" {
		t.Errorf("%q", got)
	}
}
