package atomicity_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
	"github.com/heddle-dev/heddle/trace"
)

// memoryUse is an access, or the beginning of a new life of memory.
type memoryUse struct {
	thread, pc, address, size uint64 // pc 0: an access that is recorded in any case, such as a free
	write, forget             bool
}

// sharing returns the instructions that access units of memory which several threads access, one of them to write: the
// definition that sharing.h implements.
func sharing(uses []memoryUse) map[uint64]bool {
	type unit struct {
		threads, pcs map[uint64]bool
		written      bool
	}
	units, found := map[uint64]*unit{}, map[uint64]bool{}
	for _, u := range uses {
		for at := u.address / 8; at <= (u.address+u.size-1)/8; at++ {
			x := units[at]
			if x == nil || u.forget {
				x = &unit{threads: map[uint64]bool{}, pcs: map[uint64]bool{}}
				units[at] = x
			}
			if u.forget {
				continue
			}
			x.threads[u.thread] = true
			if u.pc != 0 {
				x.pcs[u.pc] = true
			}
			if x.written = x.written || u.write; x.written && len(x.threads) > 1 {
				maps.Copy(found, x.pcs)
			}
		}
	}
	return found
}

// TestSharing: sharing.h finds the instructions that the definition says, and more of them only where its tables are full.
func TestSharing(t *testing.T) {
	t.Parallel()
	need.Tool(t, "gcc")
	prog := filepath.Join(t.TempDir(), "sharing")
	if out, err := exec.Command("gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-I../../../runtime/include", "-o", prog, "testdata/sharing.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(t *testing.T, memory uint64, uses []memoryUse) map[uint64]bool {
		var in bytes.Buffer
		for _, u := range uses {
			if u.forget {
				fmt.Fprintln(&in, "f", u.address, u.size)
			} else {
				write := 0
				if u.write {
					write = 1
				}
				fmt.Fprintln(&in, "a", u.thread, u.pc, u.address, u.size, write)
			}
		}
		cmd := exec.Command(prog, strconv.FormatUint(memory, 10))
		cmd.Stdin = &in
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		found := map[uint64]bool{}
		for _, line := range bytes.Fields(out) {
			n, err := strconv.ParseUint(string(line), 10, 64)
			if err != nil || found[n] {
				t.Fatalf("%q: %v, or told twice", line, err)
			}
			found[n] = true
		}
		return found
	}
	const enough = 1 << 30
	random := func(seed, threads, pcs, words, n uint64) (uses []memoryUse) {
		r := rand.New(rand.NewPCG(seed, 1))
		for range n {
			u := memoryUse{thread: r.Uint64N(threads), address: 1<<40 + r.Uint64N(words*8), size: 1 + r.Uint64N(8), write: r.IntN(4) == 0, pc: 1 + r.Uint64N(pcs)}
			switch r.IntN(20) {
			case 0:
				u.size = 1 + r.Uint64N(8*words) // a range
			case 1:
				u.forget = true
			case 2:
				u.pc, u.write = 0, true
			}
			if u.pc%3 == 0 { // mostly private memory, each thread's own
				u.address += (u.thread + 1) << 21
			}
			uses = append(uses, u)
		}
		return uses
	}
	for seed := range uint64(need.Amount(20, 1000)) {
		uses := random(seed, 1+seed%4, 12+seed%30, 1+seed%40, 200+100*(seed%7))
		if got, want := run(t, enough, uses), sharing(uses); !maps.Equal(got, want) {
			t.Fatalf("seed %d: found %v, want %v", seed, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
	for name, full := range map[string]struct {
		memory uint64
		uses   []memoryUse
	}{
		"memory":       {0, random(1, 3, 20, 20, 1000)},
		"threads":      {enough, random(2, 10000, 50, 400, 4000)},
		"instructions": {enough, random(3, 3, 60000, 20, 100000)},
	} {
		got := run(t, full.memory, full.uses)
		for pc := range sharing(full.uses) {
			if !got[pc] && name != "instructions" { // one beyond the table is recorded in any case
				t.Errorf("%s: %d was not found", name, pc)
				break
			}
		}
	}
}

// TestOnlyShared: a recording without the accesses of instructions that no shared memory is accessed by has the same interleavings, but
// those of different lives of memory.
func TestOnlyShared(t *testing.T) {
	t.Parallel()
	left := 0
	for seed := range uint64(need.Amount(200, 5000)) {
		full := tracegen.Random(seed, tracegen.Shape{Threads: 2 + int(seed%3), Length: 20 + int(seed%30), Stay: int(seed*37) % 90}).Trace
		var uses []memoryUse
		for i := range full.Events {
			e := &full.Events[i]
			if effect(e) == 0 && e.Op != trace.OpMalloc || e.Object == 0 {
				continue
			}
			at, n := e.Object.Bytes(max(e.Bytes(), 1))
			uses = append(uses, memoryUse{thread: uint64(e.Thread), pc: uint64(e.Site), address: at, size: n, write: effect(e)&atomicity.Writes != 0, forget: e.Op == trace.OpMalloc})
		}
		shared := sharing(uses)
		short := *full
		short.Events = slices.DeleteFunc(slices.Clone(full.Events), func(e trace.Event) bool {
			plain := e.Op.Class() == trace.ClassRead || e.Op.Class() == trace.ClassWrite
			return plain && !shared[uint64(e.Site)]
		})
		left += len(full.Events) - len(short.Events)
		type known struct {
			atomicity.Triple
			feasible, exercised bool
			pruned              atomicity.Pruned
		}
		of := func(tr *trace.Trace) map[known]bool {
			p := atomicity.NewProfile()
			p.Add(tr, nil)
			all := map[known]bool{}
			for _, i := range p.All() {
				if pruned := i.Pruned &^ atomicity.ByLifetime; i.Feasible || pruned != 0 {
					all[known{i.Triple, i.Feasible, i.Exercised > 0, pruned}] = true
				}
			}
			return all
		}
		if got, want := of(&short), of(full); !maps.Equal(got, want) {
			t.Fatalf("seed %d: %v\nwant %v", seed, got, want)
		}
	}
	if left < 100 {
		t.Errorf("only %d accesses were left out", left)
	}
}
