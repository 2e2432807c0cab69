package godump

import (
	"slices"
	"testing"
)

const dump = `some output
panic: first [recovered]
	panic: panic: in a message
goroutine 3 is mentioned
SIGQUIT: quit
PC=0x409aec m=0 sigcode=0

goroutine 0 gp=0x7bb440 m=0 mp=0x7bb440 [idle]:
runtime.futex()
	/opt/go/src/runtime/sys_linux_amd64.s:558 +0x21 fp=0x7 sp=0x6 pc=0x4a5a01

goroutine 7 gp=0xc000009a40 m=0 mp=0x7bb440 [running]:
runtime.memmove()
	/opt/go/src/runtime/memmove_amd64.s:5 +0x21 fp=0x7 sp=0x6 pc=0x4a5a02
example.com/a/src/b.(*T[...]).spin(0xc0000da248?, {0x1, 0x2})
	/home/src/b/b.go:31 +0x6d fp=0xc0 sp=0xbf pc=0x5d1c2d
created by example.com/a/src/b.Start in goroutine 6
	/home/src/b/b.go:12 +0xb13

goroutine 6 gp=0xc0000081e0 m=nil [chan receive, 2 minutes, locked to thread]:
runtime.gopark(0x300c000098468?, 0x18?)
	/opt/go/src/runtime/proc.go:462 +0xce fp=0xc1 sp=0xc0 pc=0x49d1ce
example.com/a/src/b.TestWait.func1.2(...)
	/home/src/b/b_test.go:9
testing.tRunner(0xc0000da008, 0x646ce0)
	/opt/go/src/testing/testing.go:2036 +0xea fp=0xc3 sp=0xc2 pc=0x5d1ea6

goroutine 1 gp=0xc0000081e2 m=nil [chan receive]:
runtime.gopark(0x300c000098468?, 0x18?)
	/opt/go/src/runtime/proc.go:462 +0xce fp=0xc1 sp=0xc0 pc=0x49d1ce
testing.(*T).Run(0xc0000da008, {0x639063, 0x9}, 0x646ce0)
	/opt/go/src/testing/testing.go:2109 +0xb3e fp=0xc2 sp=0xc1 pc=0x55037e
main.main()
	_testmain.go:46 +0x165 fp=0xc3 sp=0xc2 pc=0x5d1ea5

goroutine 9 gp=0xc0000081e4 m=nil [force gc (idle)]:
runtime.gopark(0x300c000098468?, 0x18?)
	/opt/go/src/runtime/proc.go:462 +0xce fp=0xc1 sp=0xc0 pc=0x49d1ce
created by runtime.init.7 in goroutine 1
	/opt/go/src/runtime/proc.go:350 +0x1a
`

func TestPositions(t *testing.T) {
	want := []string{
		"goroutine 6: chan receive, 2 minutes, locked to thread at example.com/a/src/b.TestWait.func1.2 b_test.go:9",
		"goroutine 7: running at example.com/a/src/b.(*T[...]).spin b.go:31",
	}
	if got := Positions([]byte(dump)); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := Positions([]byte("goroutine 7 is not a dump\n")); got != nil {
		t.Errorf("%q", got)
	}
}

func TestRunning(t *testing.T) {
	if got := Running([]byte(dump)); !slices.Equal(got, []uint64{0x5d1c2d}) {
		t.Errorf("%#x", got)
	}
}

func TestMessage(t *testing.T) {
	for _, c := range []struct{ text, prefix, message, before string }{
		{"out\npanic: a [recovered, repanicked]\n\ngoroutine 1 [running]:\nmain.main()\n", Panic, "a", "out\npanic: a [recovered, repanicked]\n"},
		{"fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [select]:\n", Fatal, "all goroutines are asleep - deadlock!", "fatal error: all goroutines are asleep - deadlock!\n"},
		{"panic: a [b]\n", Panic, "a [b]", "panic: a [b]\n"},
		{"nothing\n", Panic, "", "nothing\n"},
	} {
		if m, before := Message([]byte(c.text), c.prefix); m != c.message || string(before) != c.before {
			t.Errorf("%q: %q, %q", c.text, m, before)
		}
	}
}

func TestWords(t *testing.T) {
	if got := Words([]byte("out\npanic: a\n\ngoroutine 1 [running]:\nmain.main()\n")); got != "out\npanic: a" {
		t.Errorf("%q", got)
	}
}
