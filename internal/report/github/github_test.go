package github

import (
	"fmt"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	err := Write(&b, "/repo", []Annotation{
		{File: "/repo/a,b/x.c", Line: 7, Title: "data race: x", Text: "100 %\r\nwhy: a, b"},
		{File: "/usr/include/y.h", Title: "hang", Text: "h"},
		{File: "../z.c", Line: 3, Text: "relative"},
		{Text: "::no place"},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `::error file=a%2Cb/x.c,line=7,title=data race%3A x::100 %25%0D%0Awhy: a, b
::error file=/usr/include/y.h,line=1,title=hang::h
::error file=../z.c,line=3::relative
::error::::no place
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// The service shows ten errors of a step, so the tenth says how many there are beyond it.
func TestMost(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "", 1: "::error::0", 10: "::error::9", 11: "::error title=heddle::2 further findings: see the output of the step"} {
		all := make([]Annotation, n)
		for i := range all {
			all[i].Text = fmt.Sprint(i)
		}
		var b strings.Builder
		if err := Write(&b, "", all); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if last := lines[len(lines)-1]; last != want || len(lines) > Most {
			t.Errorf("%d: %d lines, the last %q, want %q", n, len(lines), last, want)
		}
	}
}
