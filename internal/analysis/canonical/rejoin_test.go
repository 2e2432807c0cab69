package canonical

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// at makes an execution with one thread whose events write to one variable at the given instructions.
func at(t *testing.T, sites []int) *Execution {
	b := newBuilder()
	for _, s := range sites {
		b.t.Events = append(b.t.Events, trace.Event{Op: trace.OpWrite, Object: global(8), Size: 8, Value: uint64(s), Site: site(s)})
	}
	return b.sanitized(t)
}

// Random pieces are cut out of a thread and put in, far from one another. The comparison passes over just these.
func TestRejoin(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var golden []int
		for i := range 3000 {
			golden = append(golden, 1+i%7+r.IntN(2)*100) // instructions of a loop with branches
		}
		other := slices.Clone(golden)
		pieces, skipped, extra := r.IntN(6), 0, 0
		for k := range pieces {
			from := 200 + k*450 // of golden, as what is behind is not yet changed
			from += len(other) - len(golden)
			n := 1 + r.IntN(60)
			if r.IntN(2) == 0 {
				piece := make([]int, n)
				for i := range piece {
					piece[i] = 1000 + r.IntN(50)
				}
				other = slices.Insert(other, from, piece...)
				extra += n
			} else {
				for i := range n {
					golden[from-(len(other)-len(golden))+i] = 2000 + r.IntN(50)
				}
				other = slices.Delete(other, from, from+n)
				skipped += n
			}
		}
		c := compare(t, at(t, golden), at(t, other))
		th := &c.Threads[0]
		if th.Compared != len(golden) || th.Rejoined != pieces || th.Skipped != skipped || th.Extra != extra || th.Count[Same] != len(golden)-skipped || th.Count[Control] != pieces {
			t.Fatalf("seed %d: want %d pieces, %d skipped, %d extra: %+v", seed, pieces, skipped, extra, th)
		}
		if pieces > 0 && (th.Control == nil || th.Control.Event != 200 || th.Control != th.First) {
			t.Fatalf("seed %d: %+v", seed, th.Control)
		}
	}
}

// A loop with two turns more.
func TestRejoinLoop(t *testing.T) {
	t.Parallel()
	run := func(turns int) (sites []int) {
		for range turns {
			sites = append(sites, 1, 2, 3)
		}
		return append(sites, 4, 5)
	}
	c := compare(t, at(t, run(10)), at(t, run(12)))
	if th := &c.Threads[0]; th.Skipped != 0 || th.Extra != 6 || th.Count != [4]int{32, 0, 0, 1} {
		t.Errorf("%+v", th)
	}
}

// Executions that do not become the same again, and a thread that ends sooner.
func TestNotRejoined(t *testing.T) {
	t.Parallel()
	same, a, b := make([]int, 100), make([]int, 9000), make([]int, 9000)
	for i := range same {
		same[i] = 1 + i
	}
	for i := range a {
		a[i], b[i] = 1000+i, 20000+i
	}
	c := compare(t, at(t, slices.Concat(same, a, same)), at(t, slices.Concat(same, b, same)))
	if th := &c.Threads[0]; th.Compared != 101 || th.Rejoined != 0 || th.Count != [4]int{100, 0, 0, 1} {
		t.Errorf("%+v", th)
	}
	c = compare(t, at(t, same), at(t, same[:60]))
	if th := &c.Threads[0]; th.Compared != 61 || th.Rejoined != 0 || th.Count != [4]int{60, 0, 0, 1} || th.Control.Other.Op != "" {
		t.Errorf("%+v", th)
	}
}

// After a block more or less, the later blocks of a thread are the same as before, in values and for other threads, too; and
// a block that the golden execution does not have is no other one.
func TestRejoinBlocks(t *testing.T) {
	t.Parallel()
	run := func(more bool, point int) *Execution {
		b := newBuilder()
		id := b.spawn(0, 1)
		blocks := []trace.Object{b.malloc(0, 8)}
		if more {
			b.add(trace.Event{Op: trace.OpFree, Object: heap(b.next)})
			extra := b.malloc(0, 24)
			b.write(0, extra, 3)
			blocks = append(blocks, extra)
		}
		for range 12 {
			o := b.malloc(0, 8)
			b.write(0, o, 7)
			b.point(0, global(8), o)
			blocks = append(blocks, o)
		}
		b.write(id, blocks[len(blocks)-1], 1)
		b.point(id, global(16), blocks[point])
		return b.sanitized(t)
	}
	c := compare(t, run(false, 3), run(true, 4))
	if th := &c.Threads[0]; th.Count[Data]+th.Count[Address] != 0 || th.Skipped != 0 || th.Extra != 3 {
		t.Errorf("%+v", th)
	}
	if th := &c.Threads[1]; th.First != nil {
		t.Errorf("another thread: %+v", th.First)
	}
	c = compare(t, run(false, 1), run(true, 1))
	if d := c.Threads[1].First; d == nil || d.Kind != Data {
		t.Errorf("a block that only one execution has: %+v", d)
	}
}
