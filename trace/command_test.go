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
		if len(words) > 0 {
			want.Header.Recipe = &Recipe{Kind: RecipeTest, Run: "X", Packages: []string{"p"}, Args: words}
		}
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
		if r := got.Header.Recipe; (r == nil) != (len(words) == 0) || r != nil && (!slices.Equal(r.Args, words) || !slices.Equal(r.Packages, []string{"p"}) || r.Run != "X") {
			t.Errorf("the recipe of %d words is another one", len(words))
		}
	}
}
