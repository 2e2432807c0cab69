package shutdownorder

import "testing"

func TestServer(t *testing.T) {
	s := NewServer()
	c, err := s.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s.Close()
}
