package trace

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/internal/abi"
)

// The text form writes the spaces of an operation's name as hyphens, and words without
// quotes.
func TestOpNamesFitTheTextForm(t *testing.T) {
	seen := map[string]bool{}
	for i, name := range abi.OpNames {
		if name == "" {
			continue
		}
		if strings.ContainsAny(name, "-\"=#") || seen[name] {
			t.Errorf("operation %d has the name %q", i, name)
		}
		seen[name] = true
	}
	for i := range 1 << 16 {
		if o, err := parseOp(printOp(Op(i))); err != nil || o != Op(i) {
			t.Fatalf("operation %d prints as %s, which parses as %d: %v", i, printOp(Op(i)), o, err)
		}
	}
}

func TestNamesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint64().Draw(t, "v")
		if s, err := parseSite(printSite(Site(v))); err != nil || s != Site(v) {
			t.Fatalf("site %s: %#x, %v", printSite(Site(v)), s, err)
		}
		if o, err := parseObject(printObject(Object(v))); err != nil || o != Object(v) {
			t.Fatalf("object %s: %#x, %v", printObject(Object(v)), o, err)
		}
		for _, op := range []Op{OpCondWait, OpAtomicRmw} {
			if a, err := parseAux(printAux(op, v)); err != nil || a != v {
				t.Fatalf("aux %s: %#x, %v", printAux(op, v), a, err)
			}
		}
		if f := Flags(v); f != 0 {
			if g, err := parseFlags(printFlags(f)); err != nil || g != f {
				t.Fatalf("flags %s: %#x, %v", printFlags(f), g, err)
			}
		}
		if id, err := parseThread(printThread(ThreadID(v))); err != nil || id != ThreadID(v) {
			t.Fatalf("thread %s: %d, %v", printThread(ThreadID(v)), id, err)
		}
		if k, err := parseKind(printKind(Kind(v))); err != nil || k != Kind(v) {
			t.Fatalf("kind %s: %d, %v", printKind(Kind(v)), k, err)
		}
	})
}

// The helpers of ThreadSet against a plain map.
func TestThreadSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(rapid.IntRange(0, 70), rapid.IntRange(0, 900))
		draw := func(name string) (ThreadSet, map[int]bool) {
			var s ThreadSet
			m := map[int]bool{}
			for _, i := range rapid.SliceOfN(id, 0, 20).Draw(t, name) {
				s.toggle(ThreadID(i))
				if m[i] = !m[i]; !m[i] {
					delete(m, i)
				}
			}
			return s, m
		}
		s, m := draw("s")
		o, n := draw("o")
		last, outside := -1, -1
		for i := 901; i >= 0; i-- {
			if s.Has(ThreadID(i)) != m[i] {
				t.Fatalf("%v, want %v", s, m)
			}
			if m[i] {
				last = max(last, i)
				if !n[i] {
					outside = i
				}
			}
		}
		if s.Len() != len(m) || s.last() != ThreadID(last) || s.firstOutside(o) != ThreadID(outside) {
			t.Fatalf("%v: %d threads, last %d, first outside of %v %d; want %v, %d, %d", s, s.Len(), s.last(), o, s.firstOutside(o), m, last, outside)
		}
		p, err := parseSet(s.String())
		if err != nil || !p.Equal(s) {
			t.Fatalf("%v parses as %v, %v", s, p, err)
		}
		// Equal sets have equal representations, however they were built.
		if !reflect.DeepEqual(p, s) {
			t.Fatalf("%#v parses as %#v", s, p)
		}
		diff := ThreadSet{}
		s.changes(o, diff.Add)
		for i := range ThreadID(901) {
			if diff.Has(i) != (m[int(i)] != n[int(i)]) {
				t.Fatalf("from %v to %v are the changes %v", s, o, diff)
			}
		}
		all := slices.Collect(s.All())
		if len(all) != len(m) || !slices.IsSorted(all) {
			t.Fatalf("%v consists of %v", s, all)
		}
	})
}
