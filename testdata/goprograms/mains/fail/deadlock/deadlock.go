// kind: deadlock
// finding: move

// Command deadlock moves a token from one list to another and back at the same time. Each
// move locks the list that it takes from first.
package main

import (
	"fmt"
	"os"
	"sync"
)

type list struct {
	mu     sync.Mutex
	tokens int
}

func move(from, to *list) {
	from.mu.Lock()
	defer from.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	from.tokens--
	to.tokens++
}

func main() {
	a, b := &list{tokens: 1}, &list{tokens: 1}
	done := make(chan struct{})
	go func() {
		defer close(done)
		move(a, b)
	}()
	move(b, a)
	<-done
	if a.tokens != 1 || b.tokens != 1 {
		fmt.Fprintln(os.Stderr, "a token was lost")
		os.Exit(1)
	}
}
