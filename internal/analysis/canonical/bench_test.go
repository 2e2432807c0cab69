package canonical

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// grown is an execution of that many events: eight threads that allocate, and write values and
// pointers to their own blocks and to shared data. first is the thread that runs first.
func grown(events, first int) *builder {
	const threads, turn = 8, 50
	b := newBuilder()
	var ids []trace.ThreadID
	for i := range threads {
		ids = append(ids, b.spawn(0, i+1))
	}
	blocks := make([]trace.Object, threads)
	for round := 0; len(b.t.Events) < events; round++ {
		for k := range threads {
			i := (first + k) % threads
			blocks[i] = b.malloc(ids[i], 256)
			for n := range uint64(turn / 2) {
				b.write(ids[i], blocks[i]+trace.Object(n*8), uint64(round)*n)
				b.point(ids[i], global(uint64(i)<<10|n*8), blocks[i]+trace.Object(n*8))
			}
		}
	}
	return b
}

var sizes = []int{10_000, 100_000, 1_000_000}

func BenchmarkSanitize(b *testing.B) {
	for _, n := range sizes {
		t := grown(n, 0)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				x, err := Sanitize(Whole(&t.t), 256<<20)
				if err == nil {
					err = x.Write(io.Discard)
				}
				if err != nil {
					b.Fatal(err)
				}
				x.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(t.t.Events)), "ns/event")
		})
	}
}

func BenchmarkCompare(b *testing.B) {
	for _, n := range sizes {
		one, other := grown(n, 0), grown(n, 3)
		x, y := one.sanitized(b), other.sanitized(b)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if c, err := Compare(context.Background(), x, y, nil, nil); err != nil || c.Deviation != Same {
					b.Fatal(c, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(one.t.Events)), "ns/event")
		})
	}
}
