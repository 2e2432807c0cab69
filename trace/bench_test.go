package trace

import (
	"bytes"
	"io"
	"testing"
)

// The figures of docs/trace-format.md come from here:
//
//	go test ./trace -run - -bench . -benchtime 20x
func BenchmarkEncode(b *testing.B) {
	t := simulate(1, 4, 200_000)
	var size int
	b.ReportAllocs()
	for b.Loop() {
		var w counter
		if err := Encode(&w, t); err != nil {
			b.Fatal(err)
		}
		size = int(w)
	}
	perEvent(b, t, size)
}

func BenchmarkDecode(b *testing.B) {
	t := simulate(1, 4, 200_000)
	var file bytes.Buffer
	if err := Encode(&file, t); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(file.Bytes()))
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = r.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		r.Close()
	}
	perEvent(b, t, file.Len())
}

func BenchmarkValidate(b *testing.B) {
	t := simulate(1, 4, 200_000)
	for b.Loop() {
		if err := Validate(t); err != nil {
			b.Fatal(err)
		}
	}
	perEvent(b, t, 0)
}

func perEvent(b *testing.B, t *Trace, size int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(t.Events)), "ns/event")
	if size > 0 {
		b.ReportMetric(float64(size)/float64(len(t.Events)), "bytes/event")
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
