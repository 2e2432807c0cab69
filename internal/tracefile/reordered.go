package tracefile

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/rapid"
	"github.com/heddle-dev/heddle/trace"
)

// WriteReordered writes the units of a trace in another order; see Input.Takes. The graph is the trace's.
func WriteReordered(name string, in Input, g *depend.Graph, order []int32, original string) error {
	if in.Statements != nil || FormatOf(name) == Statements {
		// Also for events: units keep the names that they have in the input.
		return WriteUnits(name, in.Units(), order)
	}
	in.Trace = reordered(in.Trace, g, order)
	out := *in.Trace
	out.Header.Original = original
	in.Trace = &out
	_, err := WriteAny(name, in)
	return err
}

// reordered returns a trace in another order, with its threads numbered in their new order of creation.
func reordered(t *trace.Trace, g *depend.Graph, order []int32) *trace.Trace {
	for i, u := range order {
		if int32(i) != u {
			return g.Reorder(t, order)
		}
	}
	return t
}

// NotReordered says in what the trace of a file is not the input in an order of its units; "" if it is.
// The file has any format in which WriteReordered writes it. Of a heddle trace it compares the events.
func NotReordered(in Input, order []int32, name string) (string, error) {
	out, err := ReadAny(name)
	if err != nil {
		return "", err
	}
	var want, got bytes.Buffer
	switch {
	case out.Statements != nil:
		err = errors.Join(in.Units().Write(&want, order), out.Statements.Write(&got, out.Statements.Recorded()))
	case in.Statements != nil:
		return "it has events, and the trace has statements", nil
	case FormatOf(name) == STD:
		_, wantErr := rapid.Write(&want, reordered(in.Trace, in.Graph(), order), rapid.Options{Names: in.Names})
		_, gotErr := rapid.Write(&got, out.Trace, rapid.Options{Names: out.Names})
		err = errors.Join(wantErr, gotErr)
	default:
		return otherEvents(reordered(in.Trace, in.Graph(), order).Events, out.Trace.Events), nil
	}
	if err != nil {
		return "", err
	}
	return otherLines(want.Bytes(), got.Bytes()), nil
}

// otherLines describes the first difference of two texts, or returns "".
func otherLines(want, got []byte) string {
	for n := 1; len(want) > 0 || len(got) > 0; n++ {
		if bytes.HasPrefix(want, []byte("let ")) {
			n-- // only what threads do counts
		}
		var w, g []byte
		w, want, _ = bytes.Cut(want, []byte("\n"))
		g, got, _ = bytes.Cut(got, []byte("\n"))
		if !bytes.Equal(w, g) {
			return fmt.Sprintf("step %d is %q, where the derivation has %q", max(n, 1), g, w)
		}
	}
	return ""
}

// otherEvents describes the first difference of two lists of events, or returns "".
func otherEvents(want, got []trace.Event) string {
	same := func(a, b trace.Event) bool {
		enabled := a.Enabled.Equal(b.Enabled)
		a.Enabled, b.Enabled = trace.ThreadSet{}, trace.ThreadSet{}
		return enabled && reflect.DeepEqual(a, b)
	}
	for i := range min(len(want), len(got)) {
		if !same(want[i], got[i]) {
			return fmt.Sprintf("event %d is %s of T%d, where the derivation has %s of T%d", i, got[i].Op, got[i].Thread, want[i].Op, want[i].Thread)
		}
	}
	if len(want) != len(got) {
		return fmt.Sprintf("it has %d events, the derivation %d", len(got), len(want))
	}
	return ""
}
