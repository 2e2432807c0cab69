// kind: goroutine leak
// finding: check

// Package earlyreturnleak asks all replicas and returns at the first failure; a replica that
// answers later waits for a reader forever.
package earlyreturnleak

import "errors"

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
	answers := make(chan error)
	for _, v := range versions {
		go replica{v}.check(want, answers)
	}
	for range versions {
		if err := <-answers; err != nil {
			return err
		}
	}
	return nil
}

// cause: : answers <- errStale | answers <- nil
