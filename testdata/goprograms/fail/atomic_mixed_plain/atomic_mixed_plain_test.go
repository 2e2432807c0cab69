package atomicmixedplain

import "testing"

func TestReport(t *testing.T) {
	m := new(Meter)
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Add(1)
	}()
	n := m.Report()
	<-done
	if n += m.Report(); n != 1 {
		t.Errorf("%d requests reported of 1", n)
	}
}
