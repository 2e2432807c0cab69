package campaign

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/target/simprog"
	"github.com/heddle-dev/heddle/trace"
)

// TestJSON: the report as others read it. Names in it are kept.
func TestJSON(t *testing.T) {
	where := func(s trace.Site, exact bool) string {
		if exact {
			return "exactly here"
		}
		return strings.Split(simprog.Locate(s), ":")[0]
	}
	r := find(t, simprog.New(simprog.OrderViolation()), Options{Where: where, Runs: 1000})
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	keys := func(m any, want ...string) {
		t.Helper()
		for _, k := range want {
			if _, ok := m.(map[string]any)[k]; !ok {
				t.Errorf("no %q in %v", k, m)
			}
		}
		if n := len(m.(map[string]any)); n != len(want) {
			t.Errorf("%d keys, want %v: %v", n, want, m)
		}
	}
	keys(got, "outcome", "ended", "newest", "unseen", "executions", "seconds", "perSecond", "rounds", "behaviours", "instrumented", "points", "races", "expectStatus", "notReproduced", "finding", "simplified")
	keys(got["finding"], "confirmed", "kind", "message", "where", "threads", "strategy", "execution", "events", "switches", "preemptions")
	keys(got["simplified"], "confirmed", "events", "threads", "switches", "preemptions", "executions", "seconds", "complete", "details")
	race := got["races"].([]any)[0]
	keys(race, "first", "second", "object", "name", "size")
	keys(race.(map[string]any)["first"], "op", "site", "where")
	finding := got["finding"].(map[string]any)
	// The place of a signal is the instruction; of an operation, where it returns to.
	if got["outcome"] != "bug" || finding["kind"] != "signal" || finding["where"] != "exactly here" ||
		race.(map[string]any)["first"].(map[string]any)["where"] != "programs.go" || !reflect.DeepEqual(finding["threads"], []any{1.0}) {
		t.Errorf("%s", b)
	}
	r = find(t, simprog.New(simprog.LockedUpdate(2)), Options{Runs: 10})
	b, _ = json.Marshal(r)
	if !strings.Contains(string(b), `"races":[]`) || strings.Contains(string(b), "finding") {
		t.Errorf("%s", b)
	}
}

// TestPlaces without names.
func TestPlaces(t *testing.T) {
	modules := []trace.Module{{Path: "/usr/bin/prog"}, {Path: "/lib/libc.so.6"}}
	for _, test := range []struct {
		site trace.Site
		want string
	}{
		{0, "an unknown place"}, {trace.MakeSite(0, 0x1139), "prog+0x1139"}, {trace.MakeSite(1, 16), "libc.so.6+0x10"}, {trace.MakeSite(7, 16), "module 7+0x10"},
	} {
		if got := where(nil, modules, test.site, false); got != test.want {
			t.Errorf("%#x: %q, want %q", test.site, got, test.want)
		}
	}
}
