package graphviz

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/reporttest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func render(t testing.TB, v *report.View) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	reporttest.Golden(t, "testdata/graphviz.txtar", *update, func(t *testing.T, name string) []byte {
		tr, names := reporttest.Load(t, name)
		v := report.Build(tr, names, report.Options{})
		if v.Failure == nil || len(v.Failure.Waits) == 0 {
			if err := Render(&bytes.Buffer{}, v); err == nil || !strings.Contains(err.Error(), "no wait-for graph") {
				t.Errorf("%s: %v", name, err)
			}
			return nil
		}
		return render(t, v)
	})
}

// laidOut is a graph as dot understands it.
type laidOut struct {
	Label   string
	Objects []struct {
		ID    int `json:"_gvid"`
		Name  string
		Label string
		Color string
	}
	Edges []struct {
		Tail, Head int
		Label      string
		Color      string
	}
}

// dot has the real dot lay a graph out.
func dot(t *testing.T, source []byte) laidOut {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), need.Tool(t, "dot"), "-Tjson")
	cmd.Stdin = bytes.NewReader(source)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("dot: %v\n%s\n%s", err, &stderr, source)
	}
	var g laidOut
	if err := json.Unmarshal(out, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// edges are the edges with the names of their ends, those of the cycle marked.
func (g laidOut) edges() (out []string) {
	for _, e := range g.Edges {
		s := fmt.Sprintf("%s -> %s", g.Objects[e.Tail].Name, g.Objects[e.Head].Name)
		if e.Color != "" {
			s += " in the cycle"
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

func TestDeadlock(t *testing.T) {
	tr, names := reporttest.Load(t, "deadlock")
	v := report.Build(tr, names, report.Options{})
	g := dot(t, render(t, v))
	// T1 waits for account[1].mut (o0), T2 for account[0].mut (o1), and main for T1.
	want := []string{"o0 -> t2 in the cycle", "o1 -> t1 in the cycle", "t0 -> t1", "t1 -> o0 in the cycle", "t2 -> o1 in the cycle"}
	if got := g.edges(); !slices.Equal(got, want) {
		t.Errorf("edges %q, want %q", got, want)
	}
	labels := map[string]string{}
	for _, o := range g.Objects {
		labels[o.Name] = o.Label
	}
	if labels["o0"] != "account[1].mut" || labels["t1"] != "T1 transfer" {
		t.Errorf("labels %q", labels)
	}
	for _, e := range g.Edges {
		if g.Objects[e.Tail].Name == "o0" && e.Label != `held since\nbank.c:10` {
			t.Errorf("T2's hold is labelled %q", e.Label)
		}
	}
}

// The edges of the cycle are a cycle, each thread waits for its successor, and dot draws every graph.
func TestRandom(t *testing.T) {
	drawn := 0
	for seed := range uint64(60) {
		tr, names := reporttest.Random(t, seed, 1+int(seed%7), 30+int(seed*20))
		v := report.Build(tr, names, report.Options{})
		if v.Failure == nil || len(v.Failure.Waits) == 0 {
			continue
		}
		drawn++
		source := render(t, v)
		if drawn <= 8 { // dot takes longer than the rest
			dot(t, source)
		}
	}
	if drawn == 0 {
		t.Error("no trace has a graph")
	}
}

// Two locks of the same name are two nodes, and any text reaches the reader as it is.
func TestHostile(t *testing.T) {
	for _, evil := range []string{`"]; t0 -> t1; x [label="`, `\N \G \"`, "a\nb", "<b>x</b>", "&lt;", `\`, "€", "%", "}"} {
		v := &report.View{
			Columns: []report.Column{{Name: evil}, {Thread: 1, Name: evil, Path: evil}},
			Places:  []report.Place{{Label: "?"}, {Label: evil}},
			Failure: &report.Failure{
				Title: evil, Ring: 2, Objects: []string{evil, evil},
				Waits: []report.Wait{
					{Object: 0, Place: 1, For: []report.Holder{{Thread: 1, Place: 1}}},
					{Thread: 1, Object: 1, For: []report.Holder{{Thread: 0}}},
				},
			},
		}
		g := dot(t, render(t, v))
		if len(g.Objects) != 4 || len(g.Edges) != 4 {
			t.Errorf("%q: %d nodes, %d edges", evil, len(g.Objects), len(g.Edges))
		}
		drawn := drawnText(t, render(t, v))
		for _, line := range strings.Split(evil, "\n") {
			n := 0
			for _, text := range drawn {
				if text == line {
					n++
				}
			}
			if n < 3 { // the title and both locks
				t.Errorf("%q is drawn as %q", line, drawn)
			}
		}
	}
}

// drawnText are the texts of the picture that dot makes of a graph.
func drawnText(t *testing.T, source []byte) (texts []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), need.Tool(t, "dot"), "-Tsvg")
	cmd.Stdin = bytes.NewReader(source)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(out))
	in := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			in = x.Name.Local == "text"
		case xml.EndElement:
			in = false
		case xml.CharData:
			if in {
				texts = append(texts, strings.ReplaceAll(string(x), "\u00a0", " "))
			}
		}
	}
}

// A reader-writer lock has several holders; only the one that waits for the writer is in the cycle.
func TestReaders(t *testing.T) {
	v := &report.View{
		Columns: []report.Column{{Name: "main"}, {Thread: 1, Name: "reader"}, {Thread: 2, Name: "writer"}},
		Places:  []report.Place{{Label: "?"}},
		Failure: &report.Failure{
			Title: "deadlock", Ring: 2, Objects: []string{"table", "mu"},
			Waits: []report.Wait{
				{Thread: 2, Object: 0, For: []report.Holder{{Thread: 0}, {Thread: 1}}},
				{Thread: 1, Object: 1, For: []report.Holder{{Thread: 2}}},
				{Thread: 0, Object: -1, Ready: true},
			},
		},
	}
	want := []string{"o0 -> t0", "o0 -> t1 in the cycle", "o1 -> t2 in the cycle", "t1 -> o1 in the cycle", "t2 -> o0 in the cycle"}
	if got := dot(t, render(t, v)).edges(); !slices.Equal(got, want) {
		t.Errorf("edges %q, want %q", got, want)
	}
}

// A cycle may lead through a join: T0 holds what T1 waits for, and waits for the end of T1.
func TestJoinInCycle(t *testing.T) {
	v := &report.View{
		Columns: []report.Column{{Name: "main"}, {Thread: 1, Name: "worker"}},
		Places:  []report.Place{{Label: "?"}, {Label: "a.c:3"}},
		Failure: &report.Failure{
			Title: "deadlock", Ring: 2, Objects: []string{"mu"},
			Waits: []report.Wait{
				{Thread: 0, Object: -1, Place: 1, For: []report.Holder{{Thread: 1}}},
				{Thread: 1, Object: 0, For: []report.Holder{{Thread: 0}}},
			},
		},
	}
	want := []string{"o0 -> t0 in the cycle", "t0 -> t1 in the cycle", "t1 -> o0 in the cycle"}
	if got := dot(t, render(t, v)).edges(); !slices.Equal(got, want) {
		t.Errorf("edges %q, want %q", got, want)
	}
}
