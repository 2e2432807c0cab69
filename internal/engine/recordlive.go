package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/live"
	"github.com/heddle-dev/heddle/trace"
)

// ErrLive is the error for a recording of the backend live where a schedule is needed.
var ErrLive = errors.New("the trace was recorded with --backend=live, while threads ran in parallel, so it has no schedule to follow: use heddle sanitize, compare or show, or record the program without --backend")

// RecordLiveOptions bound a recording on the backend live.
type RecordLiveOptions struct {
	// MaxAccesses is how many events a thread records before it records no more allocations and accesses to memory;
	// then Header.MaxAccesses is set.
	MaxAccesses  int
	ExpectStatus int32
	// Watchdog is how long the execution may go without using the processor.
	Watchdog time.Duration
}

// RecordLive records one execution with values while the program's threads run in parallel, however it ends. t is the same
// program on the controlled scheduler, and says what the program is; nothing is executed there.
func RecordLive(ctx context.Context, p *live.Program, t target.Target, opts RecordLiveOptions) (*trace.Trace, error) {
	r, err := p.Run(ctx, live.Request{Mode: live.Profile, Values: true, Hooks: true, Most: opts.MaxAccesses, Limit: 10 * time.Minute, Idle: opts.Watchdog})
	if err != nil {
		return nil, err
	}
	tr := r.Trace
	h := t.Header()
	h.Live, h.Values, h.Strategy, h.ExpectStatus = true, true, "live", opts.ExpectStatus
	h.Points, h.Isolation, h.Signature = nil, "", ""
	if r.Lost > 0 {
		h.MaxAccesses = opts.MaxAccesses
	}
	tr.Header = h
	if r.Refused > 0 {
		return nil, fmt.Errorf("the backend live could not read the program: %d of its hooks are not what heddle expects", r.Refused)
	}
	if err := judge(ctx, &tr.Ending, opts.ExpectStatus, outputsOf(&tr.Header)); err != nil {
		return nil, err
	}
	return tr, nil
}
