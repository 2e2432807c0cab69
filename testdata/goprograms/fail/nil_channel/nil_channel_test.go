package nilchannel

import "testing"

func TestNext(t *testing.T) {
	s := NewSource()
	go s.Start()
	if n := s.Next(); n != 42 {
		t.Errorf("got %d", n)
	}
}
