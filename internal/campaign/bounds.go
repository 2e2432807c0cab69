package campaign

import (
	"context"
	"errors"
	"time"
)

const (
	// DefaultWatchdog is the watchdog of a target that is not told another.
	DefaultWatchdog = 10 * time.Second
	// watchdogSlack is what it takes beyond the watchdog to end an execution that hangs: the
	// runtime is asked first, and killed two seconds later.
	watchdogSlack = 4 * time.Second
	// Grace is how long a confirmation may go on after the time limit or an interrupt. Most
	// take milliseconds: a failure should not go unconfirmed because it came last.
	Grace = 2 * time.Second
)

// errTime is why a context ended whose time limit was reached.
var errTime = errors.New("time limit reached")

// limited ends after d, with errTime as the cause; d of 0 is no limit.
func limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, errTime)
}

// outOfTime reports whether ctx ended because of a time limit.
func outOfTime(ctx context.Context) bool { return ctx.Err() != nil && context.Cause(ctx) == errTime }

// outlasting ends Grace after ctx does, with the same cause.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(Grace):
		case <-later.Done():
		}
		cancel(context.Cause(ctx))
	})
	return later, func() {
		stop()
		cancel(nil)
	}
}

// firstTime is the time limit of the first execution, 0 for none.
func (o *Options) firstTime() time.Duration {
	if o.Time == 0 {
		return 0
	}
	watchdog := o.Watchdog
	if watchdog == 0 {
		watchdog = DefaultWatchdog
	}
	return max(o.Time, watchdog+watchdogSlack)
}
