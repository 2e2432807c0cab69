package static

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/trace"
)

// dying is a context that ends once it has been asked a number of times.
type dying struct {
	context.Context
	left, asked int
}

func (d *dying) Err() error {
	d.asked++
	if d.left--; d.left < 0 {
		return context.Canceled
	}
	return nil
}

func (d *dying) Done() <-chan struct{}       { return nil }
func (d *dying) Deadline() (time.Time, bool) { return time.Time{}, false }

// TestStops: once its context has ended, a computation takes no more than stopEvery further steps,
// whichever loop it is in: it asks the context once more, and then no longer.
func TestStops(t *testing.T) {
	// Threads that write to a few places in any order.
	long := func(threads, length int) *trace.Trace {
		tr, r := &trace.Trace{}, rand.New(rand.NewPCG(1, 2))
		for i := range threads {
			tr.Threads = append(tr.Threads, trace.Thread{ID: trace.ThreadID(i), Parent: -1})
		}
		for range length {
			tr.Events = append(tr.Events, trace.Event{
				Thread: trace.ThreadID(r.IntN(threads)), Op: trace.OpWrite, Size: 8, Object: trace.MakeObject(trace.RegionGlobal, 0, 64*r.Uint64N(20)),
			})
		}
		return tr
	}
	tr := long(6, 6000)
	g := depend.Build(tr)
	small := depend.Build(long(3, 300)) // few enough cuts for a table
	for name, run := range map[string]func(ctx context.Context) error{
		"simplify":  func(ctx context.Context) error { _, err := Simplify(ctx, g, DefaultEffort); return err },
		"reordered": func(ctx context.Context) error { _, _, err := Reordered(ctx, tr); return err },
		"optimum":   func(ctx context.Context) error { _, err := Optimum(ctx, g, nil, DefaultLimits); return err },
		"table":     func(ctx context.Context) error { _, err := Optimum(ctx, small, nil, DefaultLimits); return err },
	} {
		whole := &dying{Context: context.Background(), left: 1 << 30}
		if err := run(whole); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if whole.asked < 4 {
			t.Errorf("%s looks at its context %d times only", name, whole.asked)
		}
		for _, at := range []int{0, 1, whole.asked / 2, whole.asked - 1} {
			d := &dying{Context: context.Background(), left: at}
			if err := run(d); !errors.Is(err, context.Canceled) || d.asked != at+1 {
				t.Errorf("%s, cancelled at look %d of %d: %v after %d looks", name, at, whole.asked, err, d.asked)
			}
		}
	}
}

func TestCaughtPassesOtherPanics(t *testing.T) {
	defer func() {
		if recover() != "other" {
			t.Error("the panic did not arrive")
		}
	}()
	var err error
	defer Caught(&err)
	panic("other")
}
