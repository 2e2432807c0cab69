// kind: clean

// Package racebehindleak ends its goroutine before the total is read.
package racebehindleak

// Sum adds up values in the background.
type Sum struct {
	values chan int
	done   chan bool
	total  int
}

// New begins to add.
func New() *Sum {
	s := &Sum{values: make(chan int, 1), done: make(chan bool)}
	go s.add()
	return s
}

func (s *Sum) add() {
	for v := range s.values {
		s.total += v
	}
	close(s.done)
}

// Put hands over one value.
func (s *Sum) Put(v int) { s.values <- v }

// Close ends the adding.
func (s *Sum) Close() {
	close(s.values)
	<-s.done
}
