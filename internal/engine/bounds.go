package engine

import (
	"context"
	"errors"
	"time"
)

// Grace is how long a confirmation may continue after the time limit or an interrupt. Most take
// milliseconds, and a failure found in the last moment should still be confirmed.
const Grace = 2 * time.Second

// errTime is the cause of a context that ended because its time limit was reached.
var errTime = errors.New("time limit reached")

// limited returns a context that ends after d, with errTime as the cause; 0 means no limit.
func limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, errTime)
}

// outOfTime reports whether ctx ended because of a time limit.
func outOfTime(ctx context.Context) bool { return ctx.Err() != nil && context.Cause(ctx) == errTime }

// outlasting returns a context that ends Grace after ctx does, with the same cause.
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

// stillAtLimit is how long an execution must have been still at the time limit to be allowed to
// continue.
const stillAtLimit = time.Second

// whileStill is limited, except that an execution that has been still for at least least at the
// limit continues until it shows a sign of life or the watchdog ends it: a hang in the last
// execution must not be reported as a search without a failure. still returns for how long an
// execution has been still; it is nil if that is not known.
func whileStill(ctx context.Context, still func() time.Duration, d, least time.Duration) (context.Context, context.CancelFunc) {
	if still == nil || d <= 0 {
		return limited(ctx, d)
	}
	first, cancel := context.WithCancelCause(ctx)
	go func() {
		// Progress resets Still: the value drops, or stays at zero for several samples.
		const every, zeros = 100 * time.Millisecond, 5
		last, none := time.Duration(0), 0
		for wait := d; ; wait = every {
			select {
			case <-first.Done():
				return
			case <-time.After(wait):
			}
			now := still()
			if wait == d && now < least {
				cancel(errTime)
				return
			}
			if none++; now > 0 {
				none = 0
			}
			if now < last/2 || none == zeros {
				cancel(errTime)
				return
			}
			last = now
		}
	}()
	return first, func() { cancel(nil) }
}
