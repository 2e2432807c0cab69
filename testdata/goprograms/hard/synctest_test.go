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
