// Package github writes findings as workflow commands of GitHub Actions: lines of a step's output that the service shows as
// annotations, on the run's page and beside the lines of a change
// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions). Other systems that read them are Gitea and Forgejo.
package github

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/heddle-dev/heddle/internal/wording"
)

// Annotation is an error that is shown at a line, or without a place if it has no file.
type Annotation struct {
	File  string
	Line  int // from 1
	Title string
	Text  string // of one line or more
}

// Most is how many annotations of a step the service shows.
const Most = 10

// Write writes the annotations, in the order of their importance: where there are too many, the last line counts those that are left
// out. Files below root, the directory of the repository, are named relative to it. The error is the writer's.
func Write(w io.Writer, root string, all []Annotation) error {
	out := bufio.NewWriter(w)
	shown := all
	if len(all) > Most {
		shown = all[:Most-1]
	}
	for i := range shown {
		command(out, root, &shown[i])
	}
	if n := len(all) - len(shown); n > 0 {
		command(out, root, &Annotation{Title: "heddle", Text: wording.Count(n, "further finding") + ": see the output of the step"})
	}
	return out.Flush()
}

func command(out io.Writer, root string, a *Annotation) {
	var properties []string
	if a.File != "" {
		properties = append(properties, "file="+property(relative(root, a.File)), fmt.Sprintf("line=%d", max(a.Line, 1)))
	}
	if a.Title != "" {
		properties = append(properties, "title="+property(a.Title))
	}
	at := ""
	if len(properties) > 0 {
		at = " " + strings.Join(properties, ",")
	}
	fmt.Fprintf(out, "::error%s::%s\n", at, data.Replace(a.Text))
}

func relative(root, file string) string {
	if root != "" {
		if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return file
}

// The characters that end a message, and those that end a property.
var (
	data = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	rest = strings.NewReplacer(":", "%3A", ",", "%2C")
)

func property(s string) string { return rest.Replace(data.Replace(s)) }
