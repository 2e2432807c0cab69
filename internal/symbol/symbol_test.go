package symbol

import (
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// check compares what the table says with each claim of the program.
func check(t *testing.T, tab *Table, claims []claim) {
	t.Helper()
	kinds := map[string]int{}
	for _, c := range claims {
		kinds[c.kind]++
		switch c.kind {
		case "call":
			checkCall(t, tab, c)
		case "entry":
			if got := tab.Function(trace.MakeSite(0, c.offset)); got.Func != c.text || !strings.Contains(sourceLine(t, got.File, got.Line), c.text+"(") {
				t.Errorf("entry %#x: got %v, want %s", c.offset, got, c.text)
			}
		case "data":
			if got := tab.Global(0, c.offset, c.size).Text; got != c.text {
				t.Errorf("%d bytes at %#x: got %q, want %q", c.size, c.offset, got, c.text)
			}
		case "value":
			if got := tab.Global(0, c.offset, c.size).Type.Format(c.bits, c.size); got != c.text {
				t.Errorf("value %#x of %s: got %q, want %q", c.bits, tab.Global(0, c.offset, c.size).Text, got, c.text)
			}
		}
	}
	if kinds["call"] < 4 || kinds["data"] < 10 || kinds["value"] < 2 {
		t.Errorf("the sample made too few claims: %v", kinds)
	}
	if p := tab.Problems(); p != nil {
		t.Errorf("problems: %v", p)
	}
}

// checkCall compares the chain, and checks that each frame's line holds the call that
// leads to the frame inside it, and that its function begins where it is defined.
func checkCall(t *testing.T, tab *Table, c claim) {
	t.Helper()
	frames := tab.Call(trace.MakeSite(0, c.offset))
	var names []string
	callee := "mark"
	for i, f := range frames {
		names = append(names, f.Func)
		if src := sourceLine(t, f.File, f.Line); !strings.Contains(src, callee+"(") {
			t.Errorf("call %#x (%s): frame %d is at %s: %q, which does not call %s", c.offset, c.text, i, f, strings.TrimSpace(src), callee)
		}
		if f.Inlined != (i < len(frames)-1) {
			t.Errorf("call %#x: frame %d of %d: Inlined = %v", c.offset, i, len(frames), f.Inlined)
		}
		callee = f.Func[strings.LastIndex(f.Func, ":")+1:]
		if src := sourceLine(t, f.File, f.Begins); !(strings.Contains(src, callee+"(") && strings.Contains(src, "{")) && !strings.HasSuffix(f.Func, "operator()") {
			t.Errorf("call %#x: frame %d is in %s, which does not begin in line %d: %q", c.offset, i, f.Func, f.Begins, src)
		}
	}
	got := strings.Join(names, "|")
	if part, any := strings.CutPrefix(c.text, "*"); any {
		if !strings.Contains(got, part) {
			t.Errorf("call %#x: got %s, want something with %q", c.offset, got, part)
		}
	} else if got != c.text {
		t.Errorf("call %#x: got %s, want %s", c.offset, got, c.text)
	}
}

func TestSamples(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			c := b.compile(t, "sample.c")
			check(t, tableFor(t, c), claimsOf(t, c))
			if slices.Contains(b.flags, "-pie") { // C++ headers take long to compile
				cc := b.compile(t, "sample.cc", "shape.cc")
				check(t, tableFor(t, cc), claimsOf(t, cc))
			}
		})
	}
}
