package junit

import (
	"bytes"
	"encoding/xml"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// required are the attributes that the schema of Ant's JUnit task requires of its elements.
var required = map[string][]string{
	"testsuite": {"package", "id", "name", "timestamp", "hostname", "tests", "failures", "errors", "time"},
	"testcase":  {"name", "classname", "time"}, "error": {"type"}, "failure": {"type"},
}

// order are the children that the schema demands of a suite, in this order; testcase any number of
// times.
var order = regexp.MustCompile(`^properties (testcase )*system-out system-err $`)

func TestSchema(t *testing.T) {
	began := time.Date(2026, 11, 22, 23, 4, 5, 6, time.FixedZone("", 3600))
	suites := []Suite{
		{Name: "empty", Began: began},
		{Name: "a/b", Began: began, Cases: []Case{
			{Name: "TestOne", Seconds: 1.5},
			{Name: "TestTwo", Seconds: 2, Failure: &Problem{"data race", "a < b\n", "…\x00\x1b[1m"}},
			{Name: "TestThree", Error: &Problem{Type: "unfinished", Message: "no time"}},
			{Name: "TestFour", Skipped: &Problem{Message: "accepted"}},
		}},
	}
	var b bytes.Buffer
	if err := Write(&b, suites); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	var path []string
	children := map[string]string{} // of the last suite
	d := xml.NewDecoder(&b)
	n := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		switch e := token.(type) {
		case xml.StartElement:
			name := e.Name.Local
			for _, r := range required[name] {
				if !slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == r }) {
					t.Errorf("%s has no %s", name, r)
				}
			}
			if len(path) > 0 {
				children[path[len(path)-1]] += name + " "
			}
			path = append(path, name)
			n++
		case xml.EndElement:
			name := e.Name.Local
			if name == "testsuite" && !order.MatchString(children[name]) {
				t.Errorf("a suite has %s", children[name])
			}
			delete(children, name)
			path = path[:len(path)-1]
		}
	}
	if n != 1+2*4+4+3 {
		t.Errorf("%d elements", n)
	}
	for _, want := range []string{
		`<testsuite id="1" package="a/b" name="a/b" timestamp="2026-11-22T22:04:05"`, `tests="4" failures="1" errors="1" skipped="1" time="3.500">`,
		`<failure message="a &lt; b&#xA;" type="data race">…` + "\uFFFD\uFFFD[1m</failure>", `<skipped message="accepted">`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
