// kind: clean

// Command deadlock moves a token from one list to another and back at the same time. Each
// move locks the list with the lower number first.
package main

import (
	"fmt"
	"os"
	"sync"
)

type list struct {
	id     int
	mu     sync.Mutex
	tokens int
}

func move(from, to *list) {
	first, second := from, to
	if first.id > second.id {
		first, second = second, first
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	second.mu.Lock()
	defer second.mu.Unlock()
	from.tokens--
	to.tokens++
}

func main() {
	a, b := &list{id: 1, tokens: 1}, &list{id: 2, tokens: 1}
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
