// Package sarif writes findings in the Static Analysis Results Interchange Format, version 2.1.0
// (OASIS standard), which code hosts and editors show beside the source.
package sarif

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/report"
)

// Log is what a file says.
type Log struct {
	Version string // of heddle
	// Root is the absolute path of the directory to which the names of source files are relative.
	Root     string
	Findings []Finding
	// Problems are why the findings may not be all: what could not be run, or not to its end.
	Problems []string
}

// Finding is one failure.
type Finding struct {
	Kind    string // as trace.Kind prints it
	Message string
	Key     string       // identity: it stays the same while lines move
	Program string       // program or test that failed
	Trace   string       // file; empty if none was written
	View    *report.View // of the trace; nil if the execution was not recorded
}

// The objects of the format, with the properties that heddle writes. Section numbers are those of
// the standard.
type (
	sarifLog struct { // 3.13
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct { // 3.14
		Tool        tool                `json:"tool"`
		Invocations []invocation        `json:"invocations"`
		Bases       map[string]artifact `json:"originalUriBaseIds"`
		Results     []result            `json:"results"`
	}
	tool struct { // 3.18
		Driver driver `json:"driver"`
	}
	driver struct { // 3.19
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
		Rules   []rule `json:"rules"`
	}
	rule struct { // 3.49
		ID    string  `json:"id"`
		Short message `json:"shortDescription"`
	}
	invocation struct { // 3.20
		Successful bool           `json:"executionSuccessful"`
		Problems   []notification `json:"toolExecutionNotifications,omitempty"`
	}
	notification struct { // 3.58
		Level   string  `json:"level"`
		Message message `json:"message"`
	}
	message struct { // 3.11
		Text string `json:"text"`
	}
	result struct { // 3.27
		Rule         string            `json:"ruleId"`
		Index        int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      message           `json:"message"`
		Locations    []location        `json:"locations,omitempty"`
		Related      []location        `json:"relatedLocations,omitempty"`
		Stacks       []stack           `json:"stacks,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints,omitempty"`
		Properties   map[string]string `json:"properties,omitempty"`
	}
	location struct { // 3.28
		ID       int       `json:"id,omitempty"`
		Physical *physical `json:"physicalLocation,omitempty"`
		Logical  []logical `json:"logicalLocations,omitempty"`
		Message  *message  `json:"message,omitempty"`
	}
	physical struct { // 3.29
		Artifact artifact `json:"artifactLocation"`
		Region   *region  `json:"region,omitempty"`
	}
	artifact struct { // 3.4
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	region struct { // 3.30
		Line int `json:"startLine"`
	}
	logical struct { // 3.33
		Name string `json:"fullyQualifiedName"`
	}
	stack struct { // 3.44
		Frames []frame `json:"frames"`
	}
	frame struct { // 3.45
		Location location `json:"location"`
	}
)

// base is the symbolic name of Log.Root.
const base = "SRCROOT"

// descriptions are of the kinds of failure.
var descriptions = map[string]string{
	"assertion":      "An assertion fails under some schedule",
	"signal":         "A fatal signal ends the program under some schedule",
	"deadlock":       "No thread can go on",
	"hang":           "The program does not end",
	"misuse":         "A lock, a thread or memory is misused",
	"exception":      "An exception is not caught",
	"exit":           "The exit status is not the expected one",
	"wrong output":   "The output is not the expected one",
	"test failure":   "A test fails under some schedule",
	"panic":          "A panic is not recovered from",
	"fatal error":    "The Go runtime cannot go on",
	"goroutine leak": "A goroutine is left behind",
	"data race":      "Two threads access the same memory, one of them writes, and nothing orders them",
}

// Write writes a log.
func Write(w io.Writer, l *Log) error {
	run := sarifRun{
		Tool:        tool{driver{Name: "heddle", Version: l.Version, Rules: []rule{}}},
		Invocations: []invocation{{Successful: len(l.Problems) == 0}},
		Bases:       map[string]artifact{base: {URI: fileURI(l.Root) + "/"}},
		Results:     []result{},
	}
	for _, p := range l.Problems {
		run.Invocations[0].Problems = append(run.Invocations[0].Problems, notification{"error", message{p}})
	}
	rules := &run.Tool.Driver.Rules
	for i := range l.Findings {
		f := &l.Findings[i]
		id := "heddle/" + strings.ReplaceAll(f.Kind, " ", "-")
		at := slices.IndexFunc(*rules, func(r rule) bool { return r.ID == id })
		if at < 0 {
			at = len(*rules)
			text := descriptions[f.Kind]
			if text == "" {
				text = f.Kind
			}
			*rules = append(*rules, rule{id, message{text}})
		}
		r := l.result(f)
		r.Rule, r.Index = id, at
		run.Results = append(run.Results, r)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// result returns a finding's result without its rule.
func (l *Log) result(f *Finding) result {
	r := result{Level: "error", Message: message{f.Message}, Properties: map[string]string{"program": f.Program}}
	if f.Key != "" {
		r.Fingerprints = map[string]string{"heddleFinding/v1": f.Key}
	}
	if f.Trace != "" {
		r.Properties["trace"] = f.Trace
	}
	v := f.View
	if v == nil || v.Failure == nil {
		return r
	}
	if p := l.best(v); p > 0 {
		r.Locations = []location{l.location(v, p)}
	}
	add := func(place int, text string) {
		if place > 0 {
			at := l.location(v, place)
			at.ID, at.Message = len(r.Related)+1, &message{text}
			r.Related = append(r.Related, at)
		}
	}
	for _, s := range v.Failure.Sides {
		add(s.Place, s.Text)
	}
	for _, t := range v.Failure.Waits {
		add(t.Place, t.Text)
	}
	if len(v.Failure.Stack) > 0 {
		s := stack{Frames: []frame{}}
		for _, p := range v.Failure.Stack {
			if p > 0 {
				s.Frames = append(s.Frames, frame{l.location(v, p)})
			}
		}
		r.Stacks = []stack{s}
	}
	return r
}

// best returns the place of a failure, the innermost one with a source file if it has none itself.
func (l *Log) best(v *report.View) int {
	f := v.Failure
	places := append([]int{f.Place}, f.Stack...)
	for _, s := range f.Sides {
		places = append(places, s.Place)
	}
	for _, p := range places {
		if p > 0 && p < len(v.Places) && v.Places[p].File != "" {
			return p
		}
	}
	return f.Place
}

// location returns a place of a view.
func (l *Log) location(v *report.View, place int) (out location) {
	p := &v.Places[place]
	if p.File != "" {
		out.Physical = &physical{Artifact: l.artifact(p.File)}
		if p.Line > 0 {
			out.Physical.Region = &region{p.Line}
		}
	}
	name := p.Func
	if name == "" {
		name = p.Label
	}
	out.Logical = []logical{{name}}
	return out
}

// artifact names a source file, relative to the root if it is there.
func (l *Log) artifact(file string) artifact {
	if !filepath.IsAbs(file) {
		return artifact{URI: pathURI(filepath.Clean(file)), Base: base}
	}
	if rel, err := filepath.Rel(l.Root, file); err == nil && filepath.IsLocal(rel) {
		return artifact{URI: pathURI(rel), Base: base}
	}
	return artifact{URI: fileURI(file)}
}

func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

func pathURI(path string) string { return (&url.URL{Path: path}).EscapedPath() }
