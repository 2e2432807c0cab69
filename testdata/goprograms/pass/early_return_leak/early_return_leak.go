// kind: clean

// Package earlyreturnleak asks all replicas and returns at the first failure; the answers have
// room in the channel and the replicas are waited for.
package earlyreturnleak

import (
	"errors"
	"sync"
)

var errStale = errors.New("stale replica")

type replica struct {
	version int
}

func (r replica) check(want int, answers chan<- error) {
	if r.version != want {
		answers <- errStale
		return
	}
	answers <- nil
}

// Healthy queries all replicas.
func Healthy(want int, versions ...int) error {
	answers := make(chan error, len(versions))
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, v := range versions {
		wg.Add(1)
		go func() {
			defer wg.Done()
			replica{v}.check(want, answers)
		}()
	}
	for range versions {
		if err := <-answers; err != nil {
			return err
		}
	}
	return nil
}
