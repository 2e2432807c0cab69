package oncefuncpanic

import "testing"

func TestOpen(t *testing.T) {
	db := NewDB()
	done := make(chan struct{})
	go func() {
		defer close(done)
		db.TryOpen()
	}()
	db.Register("sqlite")
	db.Open()
	<-done
	if !db.opened.Load() {
		t.Error("not open")
	}
}
