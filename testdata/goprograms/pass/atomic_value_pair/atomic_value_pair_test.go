package atomicvaluepair

import "testing"

func TestKeys(t *testing.T) {
	k := new(Keys)
	k.Set("one", 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.Set("two", 2)
	}()
	key, version := k.Get()
	if want := map[string]int32{"one": 1, "two": 2}[key]; version != want {
		t.Errorf("key of version %d comes with version %d", want, version)
	}
	<-done
}
