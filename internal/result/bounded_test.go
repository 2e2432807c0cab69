package result

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/report/term"
)

// On a terminal, the report of a test has a bounded number of lines, the first and the last ones.
func TestBounded(t *testing.T) {
	t.Parallel()
	out := &Test{
		Package: "m", Test: "TestX", Search: Search{Outcome: Found, Executions: 3},
		Finding: &Finding{Kind: "test failure", Message: strings.Repeat("line\n", 500) + "the end", Key: "k"}, Trace: "x.hdl",
	}
	for i := range 100 {
		out.Leaks = append(out.Leaks, Leak{Op: "chan send", Where: fmt.Sprint("place ", i)})
	}
	print := func(bounded, full bool) string {
		var b bytes.Buffer
		p := &Printer{Words: term.Plain(&b), Screen: &b, Errors: &b, Bounded: bounded, Full: full, Draw: term.Options{Width: 80}}
		if err := p.Test(out); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	short := print(true, false)
	if n := strings.Count(short, "\n"); n > testLines || n < testLines/2 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{"--- FAIL: TestX", "at place 0)", "at place 99)", "lines left out: --full prints them\n", "the end", "replay:     heddle replay x.hdl", "lines left out: heddle show x.hdl\n"} {
		if !strings.Contains(short, want) {
			t.Errorf("%q is missing in:\n%s", want, short)
		}
	}
	whole := print(false, false)
	if whole != print(true, true) || strings.Count(whole, "\n") < 600 || strings.Contains(whole, "left out") {
		t.Error("not whole")
	}
}
