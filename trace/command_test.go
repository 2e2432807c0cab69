package trace

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The largest command line that Linux allows, with ulimit -s unlimited, and many short words.
func TestLongCommand(t *testing.T) {
	for _, words := range [][]string{slices.Repeat([]string{strings.Repeat("x", 131071)}, 47), slices.Repeat([]string{"ab"}, 500_000), nil, {""}} {
		file := filepath.Join(t.TempDir(), "t.hdl")
		want := &Trace{Header: Header{Target: "c", Command: words, Points: []Site{1, 2}, Stdin: []byte("in")}, Stacks: [][]Site{nil}}
		if err := WriteFile(file, want); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Header.Command, words) || !slices.Equal(got.Header.Points, want.Header.Points) || string(got.Header.Stdin) != "in" {
			t.Errorf("%d words of %d", len(got.Header.Command), len(words))
		}
	}
}
