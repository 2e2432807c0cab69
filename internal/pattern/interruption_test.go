package pattern

import "testing"

func TestInterruptions(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []Interruption
	}{
		{"an update is lost", `
			T0 read x 1
			T0 deliver
			T0 read x 1
			T0 write x 2
			T0 return
			T0 write x 2
			ends assertion T0
`, []Interruption{{Before: 0, Inside: 3, After: 5}}},
		{"the thread reads again", `
			T0 read x 1
			T0 deliver
			T0 write x 2
			T0 return
			T0 read x 2
			T0 write x 3
			ends assertion T0
`, nil},
		{"a check comes too early", `
			T0 read x 0
			T0 deliver
			T0 write x 1
			T0 return
			T0 waits awake c
			ends deadlock
`, []Interruption{{Before: 0, Inside: 2}}},
		{"another thread", `
			T1 read x 0
			T1 deliver
			T1 write x 1
			T1 return
			ends assertion T0
`, nil},
		{"a handler waits for its thread", `
			T0 cas x 0
			T0 deliver
			T0 load x 1
			T0 load x 1
			T0 waits yield
			ends hang
`, []Interruption{{Before: 0, Inside: 2}}},
		{"it waits for something else", `
			T0 cas x 0
			T0 deliver
			T0 load x 1
			T0 load y 1
			T0 waits yield
			ends hang
`, nil},
	} {
		x := parse(t, c.in)
		got := Interruptions(x.Trace)
		same := len(got) == len(c.want)
		for i := range c.want {
			same = same && got[i].Before == c.want[i].Before && got[i].Inside == c.want[i].Inside && got[i].After == c.want[i].After
		}
		if !same {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if m := Of(x); m != nil && m.Pattern == interruptedByHandler {
			t.Errorf("%s: named, though no execution shows that the failure depends on it", c.name)
		}
		if len(got) > 0 {
			x.Interrupted = &got[0]
			if m := Of(x); m == nil || m.Pattern != interruptedByHandler {
				t.Errorf("%s: not named", c.name)
			}
		}
	}
}
