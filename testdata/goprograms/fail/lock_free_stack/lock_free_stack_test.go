package lockfreestack

import "testing"

func TestStack(t *testing.T) {
	s := new(Stack)
	for _, n := range []uint64{3, 2, 1} {
		s.Push(n)
	}
	kept := make(chan uint64, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		a, b := s.Pop(), s.Pop()
		kept <- b
		if a != 0 {
			s.Push(a)
		}
	}()
	popped := s.Pop()
	select {
	case b := <-kept:
		for n := s.Pop(); n != 0; n = s.Pop() {
			if n == b {
				t.Errorf("node %d was handed out twice (after %d)", n, popped)
				break
			}
		}
	default:
	}
	<-done
}
