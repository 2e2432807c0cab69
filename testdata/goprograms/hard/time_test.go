package hard

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestContextDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	child, stop := context.WithDeadline(ctx, time.Now().Add(50*time.Millisecond))
	defer stop()
	done := make(chan error)
	go func() {
		<-child.Done()
		done <- child.Err()
	}()
	if err := <-done; !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		t.Error(err, ctx.Err())
	}
}

func TestTicker(t *testing.T) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	stop, stopped := make(chan bool), make(chan bool)
	n := 0
	go func() {
		defer close(stopped)
		for {
			select {
			case <-tick.C:
				n++
			case <-stop:
				return
			}
		}
	}()
	began := time.Now()
	time.Sleep(100 * time.Millisecond)
	close(stop)
	<-stopped
	if d := time.Since(began); d < 100*time.Millisecond {
		t.Error(d)
	}
	if n > 11 {
		t.Error(n, "ticks")
	}
}

func TestTimers(t *testing.T) {
	fired := make(chan int, 3)
	for i, d := range []time.Duration{3, 1, 2} {
		time.AfterFunc(d*50*time.Millisecond, func() { fired <- i })
	}
	late := time.AfterFunc(time.Minute, func() { t.Error("stopped, and fired") })
	if a, b, c := <-fired, <-fired, <-fired; a != 1 || b != 2 || c != 0 {
		t.Error(a, b, c)
	}
	if !late.Stop() {
		t.Error("too late to be stopped")
	}
}
