package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/trace"
)

// Each kind of finding has a page in docs/findings and a row in docs/findings.md, the worst
// first. The page shows a failing program and heddle's output, then the fixed program, which
// heddle calls clean; TestDocumentedBlocksRun executes both.
func TestFindingPages(t *testing.T) {
	t.Parallel()
	index := readDoc(t, "findings.md")
	pages, err := filepath.Glob(filepath.Join(repository(t), "docs/findings/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []trace.Kind
	for k := trace.Kind(0); k.String() != "unknown"; k++ {
		if k.Failed() {
			kinds = append(kinds, k)
		}
	}
	if len(pages) != len(kinds) {
		t.Errorf("docs/findings has %d pages, for %d kinds of findings", len(pages), len(kinds))
	}
	for _, k := range kinds {
		page := "findings/" + strings.ReplaceAll(k.String(), " ", "-") + ".md"
		if !strings.Contains(index, "| ["+k.String()+"]("+page+") |") {
			t.Errorf("docs/findings.md has no row for %v, with a link to %s", k, page)
		}
		for _, lacks := range pageLacks(k, blocks(page, readDoc(t, page))) {
			t.Errorf("docs/%s lacks %s", page, lacks)
		}
	}
	severity := 0
	for _, m := range regexp.MustCompile(`(?m)^\| \[([a-z ]+)\]`).FindAllStringSubmatch(index, -1) {
		for _, k := range kinds {
			if k.String() != m[1] {
				continue
			}
			if s := finding.Severity(k); s < severity {
				t.Errorf("docs/findings.md: %v is worse than the kind before it", k)
			} else {
				severity = s
			}
		}
	}
}

// pageLacks names what the page of a kind must have and these blocks lack.
func pageLacks(k trace.Kind, all []*block) (lacks []string) {
	shown := regexp.MustCompile(`(?m)^(uncaught )?` + k.String() + `: `)
	var failed, clean bool
	for _, b := range all {
		m := runs.FindStringSubmatch(b.info)
		switch {
		case m == nil || m[1] != "run" || b.next == nil || b.next.info != "text":
		case m[2] == "1" && shown.MatchString(b.next.text):
			failed = true
		case m[2] == "" && failed && regexp.MustCompile(`(?m)^(no failure in|--- PASS:) `).MatchString(b.next.text):
			clean = true
		}
	}
	if !failed {
		lacks = append(lacks, "a command with exit=1 whose output is a finding of kind "+k.String())
	}
	if !clean {
		lacks = append(lacks, "a command after it whose output is that no execution fails")
	}
	return lacks
}

func TestPageLacks(t *testing.T) {
	t.Parallel()
	const (
		finds = "```sh run exit=1\nx\n```\n\n```text\nhang: no progress\n```\n"
		clean = "```sh run\nx\n```\n\n```text\nno failure in … executions\n```\n"
	)
	for text, want := range map[string]int{finds + clean: 0, clean + finds: 1, finds: 1, clean: 2, strings.ReplaceAll(finds, "hang", "exit") + clean: 2} {
		if got := pageLacks(trace.Hang, blocks("x.md", text)); len(got) != want {
			t.Errorf("%q lacks %q, want %d", text, got, want)
		}
	}
}

// docs/findings/misuse.md explains every message of kind misuse that the C runtime has.
func TestMisuseMessages(t *testing.T) {
	t.Parallel()
	page := readDoc(t, "findings/misuse.md")
	reported := regexp.MustCompile(`hd_misuse\(.*`)
	literal := regexp.MustCompile(`"([^"]+)"`)
	n := 0
	err := filepath.WalkDir(filepath.Join(repository(t), "runtime/c"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".c" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, call := range reported.FindAllString(string(text), -1) {
			around := "`" // what is in the page before and after a literal; anything for what a format fills in
			for _, m := range literal.FindAllStringSubmatch(call, -1) {
				want := regexp.QuoteMeta(m[1])
				for verb, stands := range map[string]string{"%s": "[^`]+", "%u": "[0-9]+"} {
					want = strings.ReplaceAll(want, verb, stands)
				}
				if n++; !regexp.MustCompile(around + want + around).MatchString(page) {
					t.Errorf("docs/findings/misuse.md does not explain %q, which %s reports", m[1], filepath.Base(path))
				}
				if strings.Contains(m[1], "%") {
					around = ""
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 20 {
		t.Errorf("only %d messages found in runtime/c", n)
	}
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository(t), "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
