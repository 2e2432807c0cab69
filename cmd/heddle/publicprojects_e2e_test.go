//go:build e2e

package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/heddle-dev/heddle/internal/result"
)

// publicProject is a project of testdata/public/table.txt, which explains the fields.
type publicProject struct {
	name, version, checksum string
	needs                   [][2]string // a file, and the package that has it
	unpacked                []string    // packages
	env                     []string
	tests                   []*publicTest
}

type publicTest struct {
	name    string
	program []string
	flags   []string // of heddle find
	judged  []*judgement
	bugs    []publicBug
}

// judgement is what reading the project's source has shown of findings, or of what else heddle says.
type judgement struct {
	key     *regexp.Regexp
	verdict string // true, benign, or known: a limit of heddle that it names itself
	why     string
	met     bool
}

// publicBug is put into the source by sed, or into the program by omitting a call.
type publicBug struct {
	name, kinds string
	how         []string // "sed" SCRIPT FILE, or "omit" CALL@FILE:LINE
}

// publicRow is a line of the table that the test prints.
type publicRow struct {
	project, version, test, built string
	native                        time.Duration
	points, executions, cut       int
	findings, judged              []string
}

// star returns the regular expression of a pattern in which * stands for any text.
func star(pattern string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
}

func readPublicProjects(t *testing.T, file string) (projects []*publicProject) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		bad := func() { t.Fatalf("%s:%d: %s", file, i+1, line) }
		if word == "" || word[0] == '#' {
			continue
		}
		fields := strings.Fields(rest)
		if word == "project" {
			if len(fields) != 3 {
				bad()
			}
			projects = append(projects, &publicProject{name: fields[0], version: fields[1], checksum: fields[2]})
			continue
		}
		if len(projects) == 0 || len(fields) == 0 {
			bad()
		}
		p := projects[len(projects)-1]
		before, after, colon := strings.Cut(rest, ": ")
		var test *publicTest
		if len(p.tests) > 0 {
			test = p.tests[len(p.tests)-1]
		}
		switch word {
		case "needs":
			if len(fields) != 2 {
				bad()
			}
			p.needs = append(p.needs, [2]string{fields[0], fields[1]})
		case "unpacked":
			p.unpacked = fields
		case "env":
			p.env = fields
		case "test":
			if !colon {
				bad()
			}
			p.tests = append(p.tests, &publicTest{name: before, program: strings.Fields(after)})
		case "flags":
			if test == nil {
				bad()
			}
			test.flags = fields
		case "true", "benign", "known":
			if test == nil || !colon || !strings.HasSuffix(after, ".") {
				bad()
			}
			test.judged = append(test.judged, &judgement{key: star(before), verdict: word, why: after})
		case "bug":
			// bug KINDS NAME: HOW
			kinds, name, ok := strings.Cut(before, " ")
			if test == nil || !colon || !ok {
				bad()
			}
			how := strings.SplitN(after, " ", 3)
			if len(how) < 2 || how[0] != "sed" && how[0] != "omit" || (how[0] == "sed") != (len(how) == 3) {
				bad()
			}
			test.bugs = append(test.bugs, publicBug{name: name, kinds: strings.ReplaceAll(kinds, "-", " "), how: how})
		default:
			bad()
		}
	}
	return projects
}

// TestPublicProjects builds well-known projects with their own build systems, and searches their own tests. Every finding has to be
// judged in testdata/public/table.txt. It fetches Debian's sources, so it needs the network; the cache keeps them.
func TestPublicProjects(t *testing.T) {
	folder := filepath.Join(repository(t), "cmd/heddle/testdata/public")
	projects := readPublicProjects(t, filepath.Join(folder, "table.txt"))
	t.Setenv("HEDDLE_APT_LISTS", t.TempDir()) // apt's lists are fetched once
	var rows []publicRow
	for _, p := range projects {
		t.Run(p.name, func(t *testing.T) { rows = append(rows, p.test(t, folder)...) })
	}
	b := strings.Builder{}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "project\tversion\ttest\tbuilt\tnative\tpoints\texecutions\tcut\tfindings\tjudged")
	for _, r := range rows {
		if len(r.findings) == 0 {
			r.findings, r.judged = []string{"none"}, []string{""}
		}
		for i, f := range r.findings {
			if i == 0 {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%v\t%d\t%d\t%d", r.project, r.version, r.test, r.built, r.native.Round(time.Millisecond), r.points, r.executions, r.cut)
			} else {
				fmt.Fprint(w, "\t\t\t\t\t\t\t")
			}
			fmt.Fprintf(w, "\t%s\t%s\n", f, r.judged[i])
		}
	}
	w.Flush()
	t.Logf("\n%s", b.String())
}

// fetch unpacks the project's source into dir/source. The archive comes from the cache, or else from Debian.
func (p *publicProject) fetch(t *testing.T, dir string) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	cache = filepath.Join(cache, "heddle-e2e")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(cache, p.checksum)
	if _, err := os.Stat(kept); err != nil {
		scratch := t.TempDir()
		fetch := exec.CommandContext(t.Context(), filepath.Join(repository(t), "cmd/heddle/testdata/fetch-source.sh"), p.name, scratch)
		if out, err := fetch.CombinedOutput(); err != nil {
			t.Skipf("the source of %s %s cannot be fetched from Debian, which needs the network: %v\n%s", p.name, p.version, err, out)
		}
		archives, err := filepath.Glob(filepath.Join(scratch, p.name+"_*.orig.tar.*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range archives {
			data, err := os.ReadFile(a)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprintf("%x", sha256.Sum256(data)) == p.checksum {
				if err := os.WriteFile(kept+".new", data, 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(kept+".new", kept); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if _, err := os.Stat(kept); err != nil {
		t.Fatalf("Debian's source of %s is not version %s with the checksum of testdata/public/table.txt", p.name, p.version)
	}
	if err := os.Mkdir(filepath.Join(dir, "source"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "tar", "-xf", kept, "-C", filepath.Join(dir, "source"), "--strip-components=1").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(p.unpacked) > 0 {
		script := "mkdir packages && cd packages && apt-get -o APT::Sandbox::User=root download " + strings.Join(p.unpacked, " ") + " && for p in *.deb; do dpkg -x $p . || exit 1; done"
		get := exec.CommandContext(t.Context(), "sh", "-c", script)
		get.Dir = dir
		if out, err := get.CombinedOutput(); err != nil {
			t.Skipf("cannot fetch %q, which needs the network: %v\n%s", p.unpacked, err, out)
		}
	}
}

// build runs the project's recipe in its source.
func (p *publicProject) build(t *testing.T, folder, dir string) {
	t.Helper()
	recipe := heddleCommand(t, filepath.Join(dir, "source"), p.env)
	bin := t.TempDir()
	for name, word := range map[string]string{"cc": "cc", "c++": "c++"} {
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' %s \"$@\"\n", recipe.Path, word)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	recipe.Path, recipe.Args = lookPath(t, "sh"), []string{"sh", "-eu", filepath.Join(folder, p.name+".sh")}
	recipe.Env = append(recipe.Env, "CC="+filepath.Join(bin, "cc"), "CXX="+filepath.Join(bin, "c++"), "HERE="+folder, "PACKAGES="+filepath.Join(dir, "packages"))
	if out, err := recipe.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", p.name, err, out[max(0, len(out)-5000):])
	}
}

func (p *publicProject) test(t *testing.T, folder string) (rows []publicRow) {
	for _, n := range p.needs {
		if _, err := os.Stat(n[0]); err != nil {
			t.Skipf("%s is missing: apt-get install %s", n[0], n[1])
		}
	}
	dir := t.TempDir()
	p.fetch(t, dir)
	p.build(t, folder, dir)
	for _, test := range p.tests {
		row := publicRow{project: p.name, version: p.version, test: test.name, built: "yes"}
		t.Run(test.name, func(t *testing.T) {
			test.search(t, p, dir, &row)
			test.races(t, p, dir, &row)
			t.Logf("%d scheduling points, %d executions, %d of them cut", row.points, row.executions, row.cut)
			for _, j := range test.judged {
				if !j.met && j.verdict != "benign" {
					t.Logf("not met this time: %s", j.key)
				}
			}
		})
		rows = append(rows, row)
	}
	for _, test := range p.tests {
		for _, b := range test.bugs {
			t.Run(b.name, func(t *testing.T) {
				rows = append(rows, publicRow{project: p.name, version: p.version, test: "bug: " + b.name, built: "yes", findings: []string{b.find(t, p, test, folder, dir)}, judged: []string{"put in"}})
			})
		}
	}
	return rows
}

// command runs heddle where the test's program lies, and returns its output, what it says beside, and its exit status.
func (test *publicTest) command(t *testing.T, p *publicProject, dir string, args ...string) (out []byte, said string, status int) {
	t.Helper()
	cmd := heddleCommand(t, filepath.Join(dir, "source"), p.env, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out, stderr.String(), cmd.ProcessState.ExitCode()
}

// judge puts a finding, or what heddle says of itself, into the row. It has to be in the table.
func (test *publicTest) judge(t *testing.T, row *publicRow, key, message string) {
	t.Helper()
	i := slices.IndexFunc(test.judged, func(j *judgement) bool { return j.key.MatchString(key) })
	if i < 0 {
		if !slices.Contains(row.findings, key) {
			t.Errorf("not judged: %s\n%s", key, message)
			row.findings, row.judged = append(row.findings, key), append(row.judged, "not judged")
		}
		return
	}
	j := test.judged[i]
	if !j.met {
		pattern := strings.ReplaceAll(strings.Trim(j.key.String(), "^$"), ".*", "*")
		row.findings, row.judged = append(row.findings, strings.ReplaceAll(pattern, `\`, "")), append(row.judged, j.verdict+": "+j.why)
	}
	j.met = true
}

// raceKey names a race as the key of its finding begins.
func raceKey(a, b string) string {
	places := []string{a, b}
	for i, w := range places {
		places[i] = w[strings.LastIndex(w, " ")+1:]
	}
	slices.Sort(places)
	places = slices.Compact(places)
	return "data-race@" + strings.Join(places, ",")
}

func withoutHash(key string) string {
	before, _, _ := strings.Cut(key, "#")
	return before
}

func (test *publicTest) search(t *testing.T, p *publicProject, dir string, row *publicRow) {
	program := append([]string{"--"}, test.program...)
	start := time.Now()
	native := exec.CommandContext(t.Context(), filepath.Join(dir, "source", test.program[0]), test.program[1:]...)
	native.Dir, native.Env = filepath.Join(dir, "source"), append(os.Environ(), p.env...)
	if out, err := native.CombinedOutput(); err != nil {
		t.Fatalf("without heddle: %v\n%s", err, out)
	}
	row.native = time.Since(start)

	out, said, _ := test.command(t, p, dir, slices.Concat([]string{"record", "--json", "-o", "one.hdl"}, program)...)
	var rec recordJSON
	if json.Unmarshal(out, &rec) == nil {
		row.points = rec.Cost.Events
	} else {
		t.Logf("not recorded: %s", said)
	}
	out, said, status := test.command(t, p, dir, slices.Concat([]string{"find", "--all", "--json", "--time", "20s", "--no-simplify", "--no-explain", "-o", "found.hdl"}, test.flags, program)...)
	if status != exitNothing && status != exitFound {
		test.judge(t, row, "status "+fmt.Sprint(status), said)
	}
	var found findJSON
	if err := json.Unmarshal(out, &found); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, said)
		return
	}
	row.executions = found.Executions
	if found.Cut != nil {
		row.cut = found.Cut.Executions
	}
	findings := found.Findings
	if len(findings) == 0 && found.Finding != nil {
		findings = []result.Distinct{{Finding: found.Finding}}
	}
	for _, f := range findings {
		test.judge(t, row, withoutHash(f.Finding.Key), f.Finding.Message)
	}
	for _, r := range found.Races {
		test.judge(t, row, raceKey(r.First.Where, r.Second.Where), fmt.Sprintf("%s: %s at %s, %s at %s", r.Object, r.First.Op, r.First.Where, r.Second.Op, r.Second.Where))
	}
	for _, n := range found.Notes {
		test.judge(t, row, "note "+n, n)
	}
	if u := found.UnfinishedExecutions; u != nil {
		test.judge(t, row, "unfinished", fmt.Sprintf("%+v", *u))
	}
	if found.Unreproduced > 0 {
		test.judge(t, row, "unreproduced", said)
	}
}

// races lists the data races, which are judged as those of the search.
func (test *publicTest) races(t *testing.T, p *publicProject, dir string, row *publicRow) {
	out, said, status := test.command(t, p, dir, slices.Concat([]string{"races", "--json", "--time", "10s"}, []string{"--"}, test.program)...)
	if status != exitNothing && status != exitFound {
		test.judge(t, row, "races: status "+fmt.Sprint(status), said)
	}
	var found result.Races
	if err := json.Unmarshal(out, &found); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, said)
		return
	}
	for _, r := range found.Races {
		test.judge(t, row, raceKey(r.Sides[0].Where, r.Sides[1].Where), fmt.Sprintf("%s: %+v", r.Verdict, r.Sides))
	}
	for _, f := range found.Findings {
		test.judge(t, row, withoutHash(f.Finding.Key), f.Finding.Message)
	}
}

// find puts the bug in, and wants it found.
func (b *publicBug) find(t *testing.T, p *publicProject, test *publicTest, folder, dir string) string {
	args := slices.Concat([]string{"find", "--json", "--time", "60s", "--no-simplify", "--no-explain", "-o", "bug.hdl"}, test.flags)
	if strings.Contains(b.kinds, "data race") {
		args = append(args, "--races=fail")
	}
	if b.how[0] == "omit" {
		args = append(args, "--omit", b.how[1])
	} else {
		dir = t.TempDir()
		p.fetch(t, dir)
		sed := exec.CommandContext(t.Context(), "sed", "-i", b.how[1], filepath.Join(dir, "source", b.how[2]))
		before, _ := os.ReadFile(filepath.Join(dir, "source", b.how[2]))
		if out, err := sed.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, "source", b.how[2])); string(before) == string(after) {
			t.Fatalf("sed %s changes nothing in %s", b.how[1], b.how[2])
		}
		p.build(t, folder, dir)
	}
	out, said, status := test.command(t, p, dir, slices.Concat(args, []string{"--"}, test.program)...)
	var found findJSON
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, said)
	}
	if status != exitFound || found.Finding == nil || !slices.Contains(strings.Split(b.kinds, ","), found.Finding.Kind) {
		t.Fatalf("ended with %d, without %s\n%s\n%s", status, b.kinds, out, said)
	}
	key := withoutHash(found.Finding.Key)
	if i := slices.IndexFunc(test.judged, func(j *judgement) bool { return j.key.MatchString(key) }); i >= 0 {
		t.Fatalf("%s is found without the bug, too: %s", key, test.judged[i].why)
	}
	return cmp.Or(key, found.Finding.Message)
}
