// kind: data race

// Package racebehindleak leaves a goroutine behind in every execution, and has a data race
// that is worse.
package racebehindleak

// Sum adds up values in the background.
type Sum struct {
	values chan int
	total  int
}

// New begins to add.
func New() *Sum {
	s := &Sum{values: make(chan int, 1)}
	go s.add()
	return s
}

func (s *Sum) add() {
	for v := range s.values {
		s.total += v
	}
}

// Put hands over one value.
func (s *Sum) Put(v int) { s.values <- v }

// cause: total: s.total += v
