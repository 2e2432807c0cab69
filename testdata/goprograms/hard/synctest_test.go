//go:build go1.25

package hard

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		c := make(chan int)
		go func() {
			time.Sleep(time.Second)
			c <- 1
		}()
		synctest.Wait()
		select {
		case <-c:
			t.Error("too early")
		default:
		}
		if v := <-c; v != 1 || time.Since(began) != time.Second {
			t.Error(v, time.Since(began))
		}
		<-ctx.Done()
		if d := time.Since(began); d != 5*time.Second {
			t.Error(d)
		}
	})
}

// The bubble's own goroutine waits, time and again, and is woken by what parks last,
// itself included.
func TestSynctestWaits(t *testing.T) {
	before := 0
	synctest.Test(t, func(t *testing.T) {
		before++
		work, done := make(chan int), make(chan int)
		for range 3 {
			go func() {
				for v := range work {
					time.Sleep(time.Duration(v) * time.Second)
					done <- v
				}
			}()
		}
		sum := 0
		for round := range 4 {
			go func() { work <- round }()
			synctest.Wait()
			sum += <-done
			synctest.Wait()
		}
		close(work)
		if sum != 6 {
			t.Error(sum)
		}
	})
	if before++; before != 2 {
		t.Error(before)
	}
}

// Bubble and goroutine wait where no operation of theirs says so: synctest.Wait is the first thing
// the goroutine does.
func TestSynctestWaitsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, done := 0, make(chan int)
		go func() { n++ }()
		go func() {
			synctest.Wait()
			done <- n
		}()
		if n := <-done; n != 1 {
			t.Error(n)
		}
	})
}
