package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	reflected "github.com/invopop/jsonschema"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/internal/lossless"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/beside"
	"github.com/heddle-dev/heddle/internal/result"
)

//go:generate go test -count=1 -run ^TestJSONSchema$ . -update-schema

var updateSchema = flag.Bool("update-schema", false, "write docs/json.schema.json again")

// printedJSON are the values that each command prints with --json, one of them for each object: some
// print several objects, and some another one with certain flags. A command that is missing here, or
// prints something else, fails TestScripts.
var printedJSON = map[string][]any{
	"find":              {result.Find{}},
	"test":              {result.Test{}, result.Package{}},
	"races":             {result.Races{}},
	"record":            {recordJSON{}},
	"replay":            {replayJSON{}, raceReportJSON{}, controlJSON{}},
	"atomicity":         {result.Atomicity{}},
	"simplify":          {simplifyJSON{}, staticJSON{}},
	"check derivation":  {checkJSON{}},
	"check determinism": {determinismJSON{}},
	"inject":            {result.Injections{}, result.Injection{}},
	"explain":           {report.Explanation{}, triedJSON{}},
	"sanitize":          {sanitizeJSON{}},
	"compare":           {result.Deviations{}, beside.Comparison{}},
	"convert":           {convertJSON{}},
	"bench static":      {benchJSON{}},
	"show":              {report.View{}, scheduleJSON{}},
	"doctor":            {diagnosis{}},
	"version":           {versionInfo{}},
	"man":               {manJSON{}},
}

// schemaID is the identity of the schema. It is not an address to fetch.
const schemaID = "https://github.com/heddle-dev/heddle/docs/json.schema.json"

// generateSchema makes the schema of printedJSON. Its definitions are the commands, by name, and the Go
// types, whose comments describe them. The working directory is the module's.
func generateSchema() ([]byte, error) {
	const module = "github.com/heddle-dev/heddle"
	r := &reflected.Reflector{
		AllowAdditionalProperties: true, // docs/json.md: fields may be added
		Namer: func(t reflect.Type) string {
			switch {
			case t.Name() == "":
				return "" // part of the type that uses it
			case strings.HasSuffix(t.PkgPath(), "cmd/heddle"):
				return strings.TrimSuffix(t.Name(), "JSON")
			}
			return t.String() // result.Find
		},
	}
	for _, dir := range []string{"cmd/heddle", "internal", "trace", "schedule"} {
		if err := r.AddGoComments(module, dir); err != nil {
			return nil, err
		}
	}
	r.LookupComment = func(t reflect.Type, name string) string {
		if name == "" || t.Name() == "" {
			return ""
		}
		return namedAsJSON(t, r.CommentMap[t.PkgPath()+"."+t.Name()+"."+name])
	}
	defs := reflected.Definitions{}
	var commands []*reflected.Schema
	for _, name := range slices.Sorted(maps.Keys(printedJSON)) {
		var printed []*reflected.Schema
		for _, v := range printedJSON[name] {
			s := r.Reflect(v)
			maps.Copy(defs, s.Definitions)
			printed = append(printed, &reflected.Schema{Ref: s.Ref})
		}
		command := &reflected.Schema{Description: "What heddle " + name + " --json prints.", AnyOf: printed}
		if len(printedJSON[name]) > 1 {
			command.Description = "An object that heddle " + name + " --json prints."
		}
		defs["heddle "+name] = command
		commands = append(commands, &reflected.Schema{Ref: "#/$defs/heddle%20" + strings.ReplaceAll(name, " ", "%20")})
	}
	b, err := json.MarshalIndent(&reflected.Schema{
		Version: reflected.Version, ID: schemaID,
		Title:       "What heddle's commands print with --json",
		Description: "An object of any command. The definition of a command is named heddle COMMAND. See docs/json.md.",
		AnyOf:       commands, Definitions: defs,
	}, "", "  ")
	return append(b, '\n'), err
}

// namedAsJSON returns the comment of a field with the fields of its type named as JSON has them.
func namedAsJSON(t reflect.Type, comment string) string {
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			comment = regexp.MustCompile(`\b`+f.Name+`\b`).ReplaceAllLiteralString(comment, name)
		}
	}
	return comment
}

// The schema in docs is that of the Go types. make generate writes it.
func TestJSONSchema(t *testing.T) {
	t.Chdir(repository(t))
	want, err := generateSchema()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("docs", "json.schema.json")
	if *updateSchema {
		if err := os.WriteFile(file, want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(heddle.JSONSchema(), want) {
		t.Errorf("%s does not describe what the commands print: run go generate ./cmd/heddle", file)
	}
}

// strictSchema is the schema of a command, in which objects have no other fields than those that are
// described.
func strictSchema(command string) (*jsonschema.Resolved, error) {
	var whole struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(heddle.JSONSchema(), &whole); err != nil {
		return nil, err
	}
	var tighten func(v any)
	tighten = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["type"] == "object" && v["additionalProperties"] == nil {
				v["additionalProperties"] = false
				v["patternProperties"] = map[string]any{lossless.Suffix + "$": map[string]any{"type": []string{"string", "array"}}}
			}
			for _, in := range v {
				tighten(in)
			}
		case []any:
			for _, in := range v {
				tighten(in)
			}
		}
	}
	tighten(whole.Defs)
	def, ok := whole.Defs["heddle "+command].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("docs/json.schema.json does not have heddle %s", command)
	}
	b, err := json.Marshal(map[string]any{"anyOf": def["anyOf"], "$defs": whole.Defs})
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// validJSON checks what a command printed: one value or more.
func validJSON(command string, printed io.Reader) error {
	s, err := strictSchema(command)
	if err != nil {
		return err
	}
	for d := json.NewDecoder(printed); ; {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := s.Validate(v); err != nil {
			return err
		}
	}
}

// commandWithJSON returns the command of a command line, which begins with heddle's name, if it has
// --json: find, check derivation. Otherwise, and if the line is wrong, it returns nothing.
func commandWithJSON(args []string) string {
	type help struct{}
	defer func() {
		if e := recover(); e != nil && e != any(help{}) {
			panic(e)
		}
	}()
	var c commandLine
	parser, err := newParser(&c, io.Discard, io.Discard, func(int) { panic(help{}) })
	if err != nil {
		panic(err)
	}
	parsed, err := parser.Parse(goTestWords(parser.Model, commandWords(args)))
	if err != nil || c.Form != jsonOwn {
		return ""
	}
	var names []string
	for n := parsed.Selected(); n != nil && n.Parent != nil; n = n.Parent {
		names = append([]string{n.Name}, names...)
	}
	return strings.Join(names, " ")
}

// validatedMain is main for a command with --json. What it prints must be described by the schema: if
// it is not, the status is 99. It leaves a file of the command's name in dir.
func validatedMain(command, dir string) {
	var printed bytes.Buffer
	ctx, stop := interruptible(context.Background())
	status := run(ctx, os.Args, io.MultiWriter(os.Stdout, &printed), os.Stderr)
	stop()
	if printed.Len() == 0 {
		os.Exit(status) // the command failed
	}
	if err := validJSON(command, &printed); err != nil {
		fmt.Fprintf(os.Stderr, "heddle %s: the JSON is not valid: %v\n", command, err)
		os.Exit(99)
	}
	if err := os.WriteFile(filepath.Join(dir, command), nil, 0o666); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	os.Exit(status)
}

// checkValidated checks that every command of the schema left a file in dir.
func checkValidated(t *testing.T, dir string) {
	for command := range printedJSON {
		if _, err := os.Stat(filepath.Join(dir, command)); err != nil {
			t.Errorf("no script runs heddle %s --json, so nothing compares its output with the schema", command)
		}
	}
}

// The check itself must notice what is wrong.
func TestValidJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command, printed string
		valid            bool
	}{
		{"man", `{"pages": ["a.1"]}`, true},
		{"man", `{"pages": ["a.1"]} {"pages": []}`, true},
		{"man", ``, true},
		{"man", `{"pages": [1]}`, false},
		{"man", `{"pages": ["a.1"], "more": 1}`, false},
		{"man", `{}`, false},
		{"man", `{"pages": ["a.1"]} {}`, false},
		{"man", `{"pages": `, false},
		{"replay", `{"outcome": "found", "choices": 1, "reports": []}`, true},
		{"replay", `{"outcome": "found", "choices": 1}`, false},
		{"nosuch", `{}`, false},
	} {
		if err := validJSON(c.command, strings.NewReader(c.printed)); (err == nil) != c.valid {
			t.Errorf("%s, %s: %v", c.command, c.printed, err)
		}
	}

	// The whole file is a schema, too: of an object of any command.
	var whole jsonschema.Schema
	if err := json.Unmarshal(heddle.JSONSchema(), &whole); err != nil {
		t.Fatal(err)
	}
	root, err := whole.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for printed, valid := range map[string]bool{`{"pages": ["a.1"]}`: true, `{"schedule": "hds1"}`: true, `{"outcome": 1, "pages": 1, "rows": 1}`: false, `[]`: false} {
		var v any
		if err := json.Unmarshal([]byte(printed), &v); err != nil {
			t.Fatal(err)
		}
		if err := root.Validate(v); (err == nil) != valid {
			t.Errorf("%s: %v", printed, err)
		}
	}
}
