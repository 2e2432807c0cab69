// Package sarif writes findings in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS
// Standard, 27 March 2020), which code-hosting services and editors read.
package sarif

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// Result is a finding.
type Result struct {
	Rule    string // identifier of the kind of finding, like data-race
	Level   Level
	Message string
	Where   Place    // of the finding
	Stacks  []Stack  // of those involved
	Related []Place  // other places, with what happens there
	Flows   []Flow   // of the threads of an execution that shows it, which together are one code flow
	Key     string   // is the same for the same finding in another run; empty if it has none
	Notes   []string // further sentences of the message
	// Suppressed is why the user does not want to see the finding; empty if it was not suppressed.
	Suppressed string
	Properties map[string]string // anything else, by name
}

// Level is how serious a finding is.
type Level string

const (
	Error   Level = "error"
	Warning Level = "warning"
	Note    Level = "note"
)

// Place is a line of the source, a function, or both. Fields that are not known are empty.
type Place struct {
	Func, File string
	Line       int    // from 1
	Message    string // what happens there
}

// Stack is a call stack, innermost frame first.
type Stack struct {
	Message string
	Frames  []Place
}

// Flow is what one thread does.
type Flow struct {
	Thread, Message string // identifier and name of the thread
	Steps           []Step
}

// Step is one operation of a thread.
type Step struct {
	Place      Place
	Order      int // among the steps of all threads, from 0
	Importance Importance
}

// Importance is how much of a code flow a viewer shows.
type Importance string

const (
	Essential   Importance = "essential"   // what failed
	Important   Importance = "important"   // other threads could notice it
	Unimportant Importance = "unimportant" // details
)

// Tool is what found the results.
type Tool struct {
	Name, Version, URL string
	Rules              map[string]string // descriptions of the rules
	// Problems are why the results may not be all: what could not be run, or not to its end.
	Problems []string
}

type (
	object = map[string]any
	list   = []any
)

// Write writes a log with one run. Files below root, which may be empty, are named relative to it.
func Write(w io.Writer, tool Tool, root string, results []Result) error {
	l := log{root: root}
	names := make([]string, 0, len(tool.Rules))
	for name := range tool.Rules {
		names = append(names, name)
	}
	slices.Sort(names)
	rules := list{}
	for _, name := range names {
		rules = append(rules, object{"id": name, "shortDescription": object{"text": tool.Rules[name]}})
	}
	all := list{}
	for i := range results {
		all = append(all, l.result(&results[i], slices.Index(names, results[i].Rule)))
	}
	driver := object{"name": tool.Name, "rules": rules}
	if tool.Version != "" {
		driver["version"] = tool.Version
	}
	if tool.URL != "" {
		driver["informationUri"] = tool.URL
	}
	invocation := object{"executionSuccessful": len(tool.Problems) == 0}
	if len(tool.Problems) > 0 {
		said := list{}
		for _, p := range tool.Problems {
			said = append(said, object{"level": Error, "message": object{"text": p}})
		}
		invocation["toolExecutionNotifications"] = said
	}
	run := object{"tool": object{"driver": driver}, "invocations": list{invocation}, "results": all, "columnKind": "unicodeCodePoints"}
	if root != "" {
		run["originalUriBaseIds"] = object{base: object{"uri": fileURI(root) + "/"}}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(object{
		"$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		"version": "2.1.0", "runs": list{run},
	})
}

// base is the name of the root for relative file names.
const base = "SRCROOT"

type log struct{ root string }

func (l *log) result(r *Result, rule int) object {
	out := object{
		"ruleId": r.Rule, "level": r.Level,
		"message":   object{"text": strings.Join(append([]string{r.Message}, r.Notes...), "\n")},
		"locations": list{l.location(r.Where)},
	}
	if rule >= 0 {
		out["ruleIndex"] = rule
	}
	related := list{}
	for i, p := range r.Related {
		x := l.location(p)
		x["id"] = i
		related = append(related, x)
	}
	if len(related) > 0 {
		out["relatedLocations"] = related
	}
	stacks := list{}
	for _, s := range r.Stacks {
		frames := list{}
		for _, f := range s.Frames {
			frames = append(frames, object{"location": l.location(f)})
		}
		stacks = append(stacks, object{"message": object{"text": s.Message}, "frames": frames})
	}
	if len(stacks) > 0 {
		out["stacks"] = stacks
	}
	if len(r.Flows) > 0 {
		out["codeFlows"] = list{object{"message": object{"text": "an execution that shows it; the order of execution is that of the steps of all threads"}, "threadFlows": l.flows(r.Flows)}}
	}
	if r.Key != "" {
		out["partialFingerprints"] = object{"heddle/v1": r.Key}
	}
	if len(r.Properties) > 0 {
		out["properties"] = r.Properties
	}
	if r.Suppressed != "" {
		out["suppressions"] = list{object{"kind": "external", "justification": r.Suppressed}}
	}
	return out
}

func (l *log) flows(flows []Flow) list {
	out := list{}
	for _, f := range flows {
		steps := list{}
		for _, s := range f.Steps {
			steps = append(steps, object{"location": l.location(s.Place), "executionOrder": s.Order, "importance": s.Importance})
		}
		out = append(out, object{"id": f.Thread, "message": object{"text": f.Message}, "locations": steps})
	}
	return out
}

func (l *log) location(p Place) object {
	out := object{}
	if p.File != "" {
		at := object{"artifactLocation": l.artifact(p.File)}
		if p.Line > 0 {
			at["region"] = object{"startLine": p.Line}
		}
		out["physicalLocation"] = at
	}
	if p.Func != "" {
		out["logicalLocations"] = list{object{"fullyQualifiedName": p.Func, "kind": "function"}}
	}
	if p.Message != "" {
		out["message"] = object{"text": p.Message}
	}
	return out
}

func (l *log) artifact(file string) object {
	if l.root != "" {
		if rel, err := filepath.Rel(l.root, file); err == nil && filepath.IsLocal(rel) {
			return object{"uri": (&url.URL{Path: filepath.ToSlash(rel)}).EscapedPath(), "uriBaseId": base}
		}
	}
	if filepath.IsAbs(file) {
		return object{"uri": fileURI(file)}
	}
	return object{"uri": (&url.URL{Path: filepath.ToSlash(file)}).EscapedPath()}
}

func fileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Clean(path))}).String()
}
