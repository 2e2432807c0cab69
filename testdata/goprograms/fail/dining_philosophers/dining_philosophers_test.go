package diningphilosophers

import (
	"sync"
	"testing"
)

func TestDinner(t *testing.T) {
	table := new(Table)
	var wg sync.WaitGroup
	for seat := range table.forks {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 2 {
				table.eat(seat)
			}
		}()
	}
	wg.Wait()
	if n := table.meals.Load(); n != 8 {
		t.Errorf("%d meals", n)
	}
}
