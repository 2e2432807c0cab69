package doublecheckedinit

import "testing"

func TestGet(t *testing.T) {
	table := new(Table)
	done := make(chan int)
	go func() { done <- len(table.Get()) }()
	if n := len(table.Get()); n != 3 {
		t.Errorf("%d entries", n)
	}
	if n := <-done; n != 3 {
		t.Errorf("%d entries for the other", n)
	}
}
