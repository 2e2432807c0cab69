package forgottendone

import "testing"

func TestImport(t *testing.T) {
	table := &Table{rows: map[string]bool{"a": true}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		table.Drop("a")
	}()
	table.Import("a", "b")
	<-done
	if !table.rows["b"] {
		t.Error("b is missing")
	}
}
