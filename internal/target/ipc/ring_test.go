package ipc

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/abi"
)

func newRing(size int) Ring { return Ring{ctl: new(abi.Ring), bytes: make([]byte, size)} }

// Records come out as they went in, in order, however they lie across the ring's end, and
// a ring that is full takes nothing.
func TestRing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := newRing(512)
	var in [][]byte
	full, padded := 0, 0
	for n := byte(0); len(in) > 0 || n < 200; {
		if n < 200 && rng.IntN(2) == 0 {
			b := bytes.Repeat([]byte{n}, rng.IntN(200))
			if r.Put(uint32(n)+100, b) {
				in = append(in, b)
				n++
			} else {
				full++
			}
		} else if kind, b, ok := r.Next(); ok {
			want := in[0]
			if len(b) < len(want) || len(b) > len(want)+7 || !bytes.Equal(b[:len(want)], want) || len(want) > 0 && kind != uint32(want[0])+100 {
				t.Fatalf("kind %d, %d bytes % x…, want % x…", kind, len(b), b[:min(len(b), 4)], want[:min(len(want), 4)])
			}
			in = in[1:]
			r.Release()
			if r.tail()%512 < uint64(len(want)) {
				padded++
			}
		} else if len(in) > 0 {
			t.Fatalf("%d records are in the ring and none comes out", len(in))
		}
	}
	if full == 0 || padded == 0 {
		t.Errorf("the ring was full %d times and went round %d times", full, padded)
	}
}

// A waiting consumer is woken, and one with data available does not wait.
func TestRingWakes(t *testing.T) {
	r := newRing(512)
	go func() {
		time.Sleep(50 * time.Millisecond)
		r.Put(1, []byte("x"))
	}()
	r.Wait(time.Hour)
	if _, _, ok := r.Next(); !ok {
		t.Error("woken without a record")
	}
	r.Wait(time.Hour) // the record has not been released
	r.Release()
	r.Wait(30 * time.Millisecond)
	if _, _, ok := r.Next(); ok {
		t.Error("a record after all were released")
	}
}
