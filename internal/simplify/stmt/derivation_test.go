package stmt

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

const small = `heddle derivation 1
trace units 3 statements 3 sha256 0101010101010101010101010101010101010101010101010101010101010101
segments 0 1
segments 2
round forward
S 0 3 up 2 1
round binary
base2 1 3 up 2 1
S 0 3 down 0 1
round line
line 0 3 2 1 after 0
result switches 2 1 sha256 0202020202020202020202020202020202020202020202020202020202020202 seal 0303030303030303030303030303030303030303030303030303030303030303
`

func TestDerivationText(t *testing.T) {
	d, err := ReadDerivation(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	if d.Units != 3 || d.Before != 2 || d.After != 1 || len(d.Segments) != 3 || d.Steps() != 4 || !d.Rounds[1].Steps[1].Down || d.Rounds[2].Steps[0].After != 0 {
		t.Errorf("%+v", d)
	}
	var out bytes.Buffer
	if err := d.Write(&out); err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(small, "segments 0 1\nsegments 2", "segments 0 1 2", 1); out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
}

func TestDerivationErrors(t *testing.T) {
	lines := strings.SplitAfter(small, "\n")
	with := func(i int, line string) string {
		l := slices.Clone(lines)
		l[i] = line + "\n"
		return strings.Join(l, "")
	}
	for _, c := range []struct{ text, want string }{
		{"", "line 0: it ends before"},
		{lines[0], "line 1: it ends before"},
		{with(0, "heddle trace 1"), "line 1: not a derivation"},
		{with(0, "heddle derivation 2"), "line 1: this is version 2"},
		{with(1, "trace units 3"), "line 2: 3 words"},
		{with(1, "trace units -3 statements 3 sha256 00"), `line 2: "-3" is not a number`},
		{with(1, "trace units 3 statements 3 sha256 00"), `line 2: "00" is not a SHA-256`},
		{with(2, "segments x"), `line 3: "x" is not a number`},
		{with(4, "round square"), "line 5: a round is one of"},
		{with(4, ""), "line 5: an empty line"},
		{with(4, "S 0 3 up 2 1"), "line 5: a step before the first round"},
		{with(5, "segments 7"), "line 6: segments after"},
		{with(5, "S 0 3 left 2 1"), `line 6: "left" in the place of "up"`},
		{with(5, "S 0 3 up 2"), "line 6: 5 words"},
		{with(5, "T 0 3 up 2 1"), `line 6: "T" is not a rule`},
		{with(10, "line 0 3 2 1 behind 0"), `line 11: "behind" in the place of "after"`},
		{small + "round binary\n", "line 13: there is more after"},
	} {
		_, err := ReadDerivation(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}
