//go:build go1.27

package hard

import (
	"testing"
	"testing/synctest"
	"time"
)

// synctest.Sleep returns after all that others do at that moment of the bubble's time, whichever of them wakes first.
func TestSynctestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, ticks := time.Now(), 0
		ticker := time.NewTicker(time.Second)
		stop, stopped := make(chan bool), make(chan bool)
		go func() {
			defer close(stopped)
			for {
				select {
				case <-ticker.C:
					ticks++
				case <-stop:
					return
				}
			}
		}()
		for n := range 3 {
			if synctest.Sleep(time.Second); ticks != n+1 || time.Since(began) != time.Duration(n+1)*time.Second {
				t.Error(n, ticks, time.Since(began))
			}
		}
		ticker.Stop()
		close(stop)
		<-stopped
	})
}
