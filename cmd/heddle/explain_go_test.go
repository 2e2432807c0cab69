package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/report"
)

// Of Go programs, the patterns that are known.
var explainedGo = map[string]string{
	"lost_update": "lost update", "abba": "lock cycle", "double_close": "double close of a channel", "waitgroup_add_inside": "WaitGroup misuse",
	"cond_lost_wakeup": "lost wake-up",
}

// TestExplainGo is TestExplain for the tests of Go packages.
func TestExplainGo(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(filepath.Join(repository(t), "testdata/goprograms/fail"))
	if err != nil || len(entries) < 80 {
		t.Fatal(len(entries), err)
	}
	rows := make(chan explainedRow, len(entries))
	t.Run("programs", func(t *testing.T) {
		for _, e := range entries {
			want, known := explainedGo[e.Name()]
			if !known && !*explainAll {
				continue
			}
			t.Run(e.Name(), func(t *testing.T) {
				t.Parallel()
				dir := goModule(t, filepath.Join("fail", e.Name()))
				out, _ := heddleCommand(t, dir, nil, "test", "--json", "--races=ignore", "--leaks=fail", "./fail/"+e.Name()).Output()
				var found testJSON
				for line := range strings.Lines(string(out)) {
					var r testJSON
					if strings.Contains(line, `"test":`) && json.Unmarshal([]byte(line), &r) == nil && r.Finding != nil {
						found = r
						break
					}
				}
				if found.Trace == "" {
					if known {
						t.Errorf("nothing found: %s", out)
					}
					t.Skip("heddle test finds nothing that --races=ignore leaves")
				}
				var why report.Explanation
				out, err := heddleCommand(t, dir, nil, "explain", "--json", "-o", "pass.hdl", filepath.Join(dir, found.Trace)).Output()
				if jerr := json.Unmarshal(out, &why); jerr != nil {
					t.Fatalf("%v: %s", err, out)
				}
				sources, err := filepath.Glob(filepath.Join(dir, "fail", e.Name(), "*.go"))
				if err != nil {
					t.Fatal(err)
				}
				missing := causeOf(t, filepath.Join(dir, "fail", e.Name(), e.Name()+".go"), sources...).missing(&why)
				rows <- explainedRow{e.Name(), len(why.Orders) > 0 || why.Pattern != "", len(why.Orders), why.Executions, missing == ""}
				t.Logf("%d orders, %d executions, %q: %s", len(why.Orders), why.Executions, why.Pattern, why.Text)
				checkShort(t, &why)
				if missing != "" {
					t.Logf("the cause is not named: %s", missing)
				}
				if known && (missing != "" || len(why.Orders) == 0 || why.Pattern != want) {
					t.Errorf("the cause is not named: %s, in %+v, want %s", missing, why, want)
				}
				if len(why.Orders) == 0 {
					return
				}
				if why.Executions > 600 {
					t.Errorf("%d executions", why.Executions)
				}
				var again replayJSON
				out, _ = heddleCommand(t, dir, nil, "replay", "--json", filepath.Join(dir, "pass.hdl")).Output()
				if err := json.Unmarshal(out, &again); err != nil || !again.Same || again.Finding != nil {
					t.Errorf("the execution that is to pass: %s", out)
				}
			})
		}
	})
	close(rows)
	summarize(t, rows)
}
