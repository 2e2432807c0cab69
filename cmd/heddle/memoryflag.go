package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/machine"
)

// memorySize is a number of bytes, written with K, M or G for powers of 1,024.
type memorySize int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *memorySize) UnmarshalText(text []byte) error {
	word := strings.TrimSuffix(strings.ToUpper(string(text)), "B")
	word = strings.TrimSuffix(word, "I")
	shift := 0
	for i, unit := range []string{"K", "M", "G", "T"} {
		if w, ok := strings.CutSuffix(word, unit); ok {
			word, shift = w, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseFloat(word, 64)
	if err != nil || !(n > 0) || n > float64(int64(1)<<50>>shift) {
		return fmt.Errorf("%q is not a size: want a number of bytes like 512M or 2G", text)
	}
	if *m = memorySize(n * float64(int64(1)<<shift)); *m < machine.LeastMemory {
		return fmt.Errorf("%s is too little: want at least %s", text, memorySize(machine.LeastMemory))
	}
	return nil
}

func (m memorySize) String() string {
	for i, unit := range []string{"T", "G", "M", "K"} {
		if size := memorySize(1) << (10 * (4 - i)); m >= size && m%(size/8) == 0 {
			return strconv.FormatFloat(float64(m)/float64(size), 'f', -1, 64) + unit
		}
	}
	return strconv.FormatInt(int64(m), 10)
}
