package panicingoroutine

import "testing"

func TestTop(t *testing.T) {
	s := &Stack{items: []int{7}}
	top := make(chan int)
	go func() { top <- s.Top() }()
	s.Pop()
	if v := <-top; v != 7 && v != 0 {
		t.Errorf("top is %d", v)
	}
}
