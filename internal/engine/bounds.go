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

// Limited returns a context that ends after d, 0 for no limit, so that OutOfTime tells that from an interrupt.
func Limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return limited(ctx, d)
}

// OutOfTime reports whether a context ended because of the time limit that Limited set.
func OutOfTime(ctx context.Context) bool { return outOfTime(ctx) }

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
