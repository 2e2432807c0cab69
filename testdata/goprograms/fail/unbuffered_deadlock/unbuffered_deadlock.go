// kind: deadlock
// finding: fetch

// Package unbuffereddeadlock reports a failed fetch on an unbuffered error channel that is
// read only after all results; a fetch fails if it comes after the connection's quota is used
// up and its error comes when somebody still waits for a result.
package unbuffereddeadlock

import (
	"errors"
	"sync/atomic"
)

var errQuota = errors.New("quota used up")

type reply struct {
	page string
	err  error
}

// Client fetches pages; after quota of them the server refuses.
type Client struct {
	quota atomic.Int64
}

func (c *Client) fetch(page string, results chan<- reply, failures chan<- error) {
	if c.quota.Add(-1) < 0 && page != "index" { // the index is always served
		failures <- errQuota
		return
	}
	results <- reply{page: page}
}

// All fetches pages at the same time and returns how many came.
func (c *Client) All(pages ...string) (int, error) {
	results, failures := make(chan reply), make(chan error)
	for _, p := range pages {
		go c.fetch(p, results, failures)
	}
	n := 0
	for range pages {
		<-results
		n++
	}
	select {
	case err := <-failures:
		return n, err
	default:
		return n, nil
	}
}

// cause: quota: if c.quota.Add(-1) < 0
