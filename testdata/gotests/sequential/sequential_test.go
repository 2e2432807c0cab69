// Package sequential has tests of which every schedule and every seed gives the same
// execution, and tests that look like them.
package sequential

import (
	crand "crypto/rand"
	"fmt"
	"math/rand"
	randv2 "math/rand/v2"
	"os"
	"strings"
	"testing"
)

// Only hash seeds are drawn, and what package fmt's pool does is chance.
func TestSequential(t *testing.T) {
	small := map[int]int{1: 2}
	large := make(map[string]int)
	for i := range 100 {
		large[fmt.Sprint("key ", i)] = i
	}
	if small[1] != 2 || large["key 7"] != 7 {
		t.Error(small[1], large["key 7"])
	}
}

func TestMapOrder(t *testing.T) {
	for k := range map[int]int{0: 0, 1: 1, 2: 2} {
		if k == 1 {
			t.Error("1 comes first")
		}
		break
	}
}

func TestRand(t *testing.T) {
	if rand.Intn(2) == 1 {
		t.Error("1")
	}
}

func TestRandOther(t *testing.T) {
	if rand.Intn(2) == 0 {
		t.Error("0")
	}
}

func TestRandV2(t *testing.T) {
	if randv2.IntN(2) == 1 {
		t.Error("1")
	}
}

func TestRandV2Other(t *testing.T) {
	if randv2.IntN(2) == 0 {
		t.Error("0")
	}
}

func TestCryptoRand(t *testing.T) {
	var b [1]byte
	crand.Read(b[:])
	if b[0]&1 == 1 {
		t.Error("odd")
	}
}

func TestCryptoRandOther(t *testing.T) {
	var b [1]byte
	crand.Read(b[:])
	if b[0]&1 == 0 {
		t.Error("even")
	}
}

func TestTempName(t *testing.T) {
	name, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, "1") {
		t.Error(name)
	}
}

// A read from a pipe blocks the only other goroutine.
func TestPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go w.Write([]byte("x"))
	var b [1]byte
	if _, err := r.Read(b[:]); err != nil {
		t.Error(err)
	}
}
