package bintrcred

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/simplify/proof"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
)

// examples are the counterexamples of docs/static.md.
const examples = "../../../testdata/static/printed/"

// every calls do with all traces of a length, of threads A and B and the statements
// localize and Share of one global, with A first; until it returns false.
func every(length int, do func(text string, t *stmt.Trace) bool) {
	for n := range 1 << (2*length - 1) {
		var text strings.Builder
		for i, x := 0, n*2; i < length; i, x = i+1, x>>2 {
			fmt.Fprintf(&text, "%c: %s(%c, g)\n", "AB"[x&1], []string{"localize", "Share"}[x>>1&1], 'p'+i)
		}
		t, err := stmt.Parse(strings.NewReader(text.String()))
		if err != nil {
			panic(err)
		}
		if !do(text.String(), t) {
			return
		}
	}
}

// differs reports whether an order reaches another state than the trace.
func differs(t *stmt.Trace, order []int32) bool {
	before, err := stmt.Run(t, t.Recorded())
	if err != nil {
		panic(err) // localize and Share always can
	}
	after, err := stmt.Run(t, order)
	return err != nil || t.Diff(before, after) != ""
}

// smallest finds a shortest trace for which something is so.
func smallest(limit int, so func(*stmt.Trace) bool) (string, int) {
	for n := 1; n <= limit; n++ {
		found := ""
		every(n, func(text string, t *stmt.Trace) bool {
			if so(t) {
				found = text
			}
			return found == ""
		})
		if found != "" {
			return found, n
		}
	}
	return "", 0
}

// inOrder reports whether an order keeps every thread's own.
func inOrder(t *stmt.Trace, order []int32) bool {
	last := map[int32]int32{}
	for _, u := range order {
		if p, ok := last[t.Of[u]]; ok && p > u {
			return false
		}
		last[t.Of[u]] = u
	}
	return true
}

// TestPrintedIsUnsound finds the smallest traces that the rules as printed get wrong. They
// are the ones in docs/static.md.
func TestPrintedIsUnsound(t *testing.T) {
	primed, first := Reading{Primed: true}, Reading{Primed: true, First: true}
	for _, c := range []struct {
		name, file string
		length     int
		so         func(*stmt.Trace) bool
	}{
		{"base2 swaps statements of one thread", "base2-thread.txt", 4, func(t *stmt.Trace) bool {
			return len(t.Threads) == 1 && differs(t, Printed(t, primed))
		}},
		{"base2 swaps connected statements", "base2.txt", 4, func(t *stmt.Trace) bool {
			o := Printed(t, primed)
			return inOrder(t, o) && differs(t, o)
		}},
		{"S swaps connected halves", "s.txt", 6, func(t *stmt.Trace) bool {
			r := first
			r.Safe = true
			o := Printed(t, r)
			return inOrder(t, o) && differs(t, o)
		}},
		{"more context switches", "theorem1.txt", 4, func(t *stmt.Trace) bool {
			return t.Switches(Printed(t, primed)) > t.Switches(t.Recorded())
		}},
		{"S makes more context switches", "theorem1-s.txt", 8, func(t *stmt.Trace) bool {
			r := first
			r.Safe = true
			o := Printed(t, r)
			return t.Switches(o) > t.Switches(t.Recorded())
		}},
	} {
		text, n := smallest(c.length+1, c.so)
		if n != c.length {
			t.Errorf("%s: the smallest trace has %d statements, not %d", c.name, n, c.length)
		}
		file, err := os.ReadFile(examples + c.file)
		if err != nil {
			t.Fatal(err)
		}
		if _, trace, _ := strings.Cut(string(file), "\n"); trace != text {
			t.Errorf("%s: found\n%s%s has\n%s", c.name, text, c.file, trace)
		}
	}
}

// TestSoundOnThem: what heddle makes of the same traces holds.
func TestSoundOnThem(t *testing.T) {
	files, err := filepath.Glob(examples + "*.txt")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		defer text.Close()
		tr, err := stmt.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		res, err := Run(context.Background(), tr)
		if err != nil {
			t.Errorf("%s: %v", f, err)
		}
		if _, err := proof.Check(tr, res.Derivation); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// TestLetter: by the letter, no trace of more than two statements changes.
func TestLetter(t *testing.T) {
	for n := 3; n <= 8; n++ {
		every(n, func(text string, tr *stmt.Trace) bool {
			if o := Printed(tr, Reading{}); !slices.Equal(o, tr.Recorded()) {
				t.Errorf("%s became %v", text, o)
			}
			return !t.Failed()
		})
	}
}
