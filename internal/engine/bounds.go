package engine

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Grace is how long a confirmation may continue after the time limit or an interrupt. Most take
// milliseconds, and a failure found in the last moment should still be confirmed.
const Grace = 2 * time.Second

// errTime is the cause of a context that ended because its time limit was reached.
var errTime = errors.New("time limit reached")

// ending is when a context of limited ended, which nothing else tells of one that was interrupted.
type ending struct {
	mu sync.Mutex
	at time.Time // zero before
}

type endingKey struct{}

// limited returns a context that ends after d, with errTime as the cause; 0 means no limit.
func limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	e := &ending{}
	ctx = context.WithValue(ctx, endingKey{}, e)
	var cancel context.CancelFunc
	if d <= 0 {
		ctx, cancel = context.WithCancel(ctx)
	} else {
		ctx, cancel = context.WithTimeoutCause(ctx, d, errTime)
	}
	context.AfterFunc(ctx, func() { e.passed(time.Now()) })
	return ctx, cancel
}

// passed returns when the context ended, now if that was not known before.
func (e *ending) passed(now time.Time) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.at.IsZero() {
		e.at = now
	}
	return e.at
}

// Limited returns a context that ends after d, 0 for no limit, so that OutOfTime tells that from an interrupt.
func Limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return limited(ctx, d)
}

// OutOfTime reports whether a context ended because of the time limit that Limited set.
func OutOfTime(ctx context.Context) bool { return outOfTime(ctx) }

// outOfTime reports whether ctx ended because of a time limit.
func outOfTime(ctx context.Context) bool { return ctx.Err() != nil && context.Cause(ctx) == errTime }

// overdue reports whether err says only that the time limit of ctx was reached.
func overdue(ctx context.Context, err error) bool {
	return outOfTime(ctx) && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled))
}

// outlasting returns a context that ends Grace after ctx does, with the same cause. Whatever outlasts one context shares that time.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		left := Grace
		if e, ok := ctx.Value(endingKey{}).(*ending); ok {
			left -= time.Since(e.passed(time.Now()))
		}
		select {
		case <-time.After(left):
		case <-later.Done():
		}
		cancel(context.Cause(ctx))
	})
	return later, func() {
		stop()
		cancel(nil)
	}
}
