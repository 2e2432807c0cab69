// kind: clean

// Package unbuffereddeadlock reports results and failures on one channel, of which as many are
// read as fetches were begun.
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

func (c *Client) fetch(page string, results chan<- reply) {
	if c.quota.Add(-1) < 0 && page != "index" { // the index is always served
		results <- reply{err: errQuota}
		return
	}
	results <- reply{page: page}
}

// All fetches pages at the same time and returns how many came.
func (c *Client) All(pages ...string) (int, error) {
	results := make(chan reply)
	for _, p := range pages {
		go c.fetch(p, results)
	}
	n := 0
	var err error
	for range pages {
		if r := <-results; r.err != nil {
			err = r.err
		} else {
			n++
		}
	}
	return n, err
}
