package mapreadwrite

import "testing"

func TestUser(t *testing.T) {
	s := &Sessions{users: map[string]string{"1": "ada"}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Login("2", "bob")
	}()
	if u := s.User("1"); u != "ada" {
		t.Errorf("user is %q", u)
	}
	<-done
}
