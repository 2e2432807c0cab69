package pattern

import (
	"os"
	"strings"
	"testing"
)

// The documentation lists the patterns as the table does.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/explain.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for _, p := range table {
		rows.WriteString("| `" + p.Name + "` | " + p.Shows + " |\n")
	}
	if !strings.Contains(string(text), "| pattern | what the events show |\n|---|---|\n"+rows.String()+"\n") {
		t.Errorf("docs/explain.md does not have these rows:\n%s", &rows)
	}
}

// Each pattern has a name of its own.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range table {
		if seen[p.Name] || p.Name == "" || p.Shows == "" {
			t.Errorf("%q: no name, no description, or twice", p.Name)
		}
		seen[p.Name] = true
	}
}
