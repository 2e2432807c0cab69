package heddle_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// turns are expressions that do not belong in comments, messages and documentation, each with
// what a reader understands at once. A space in a pattern also matches a line break with the
// comment marks around it. Spare lists matches that are fine.
var turns = []struct {
	pattern string
	better  string
	spare   string
}{
	{pattern: `for ever`, better: "forever, indefinitely; of a thread: never returns"},
	{pattern: `(?:\w+ )?(?:is|are|was|were) no \w+`, better: "is not a …", spare: `(?i)^there|no (longer|more|less|one|other|limit|sign|use|bound|higher)$`},
	{pattern: `there (?:is|are|was|were) none`, better: "none exists, or say what is missing"},
	{pattern: `nobody's`, better: "name the owner, or say that it has none"},
	{pattern: `com(?:es?|ing) to main`, better: "reaches main"},
	{pattern: `is had`, better: "holds, owns, has"},
	{pattern: `put(?:s|ting)? up with`, better: "accepts, tolerates, ignores"},
	{pattern: `by (?:itself|themselves)`, better: "alone, on its own, automatically"},
	{pattern: `who waits`, better: "waiters, the waiting thread"},
	{pattern: `(?:what|whatever|nothing|all that) c[oa]mes? of`, better: "the result of"},
	{pattern: `can be said`, better: "name the thing: the grammar, the options, what is known"},
	{pattern: `time is over`, better: "time limit reached"},
	{pattern: `(?:gives?|gave|given|giving) way`, better: "yields"},
	{pattern: `h[oe]lds? on to`, better: "keeps"},
	{pattern: `that there (?:is|are|was|were)`, better: "existing, available; or name the thing"},
	{pattern: `ha(?:s|ve) itself`, better: "holds already"},
	{pattern: `told now and then|now and then`, better: "periodically, with the period"},
	{pattern: `(?:is|are|was) called by`, better: "is named"},
	{pattern: `(?:for )?each two`, better: "each pair of"},
	{pattern: `those that are gone`, better: "those that have ended"},
	{pattern: `a help and no need`, better: "an optimisation only"},
	{pattern: `go(?:es)? back are damage`, better: "decreasing addresses mean a corrupt table"},
	{pattern: `uses? up`, better: "consumes"},
	{pattern: `not made to be`, better: "cannot"},
	{pattern: `any more that`, better: "name the thing"},
	{pattern: `without effect`, better: "ignored"},
	{pattern: `said to heddle`, better: "given to heddle"},
	{pattern: `(?:and|its|their) kin`, better: "and similar calls, options, …"},
	{pattern: `(?:to|cannot|not) be had`, better: "available"},
	{pattern: `which there can(?:not| be| not)`, better: "impossible, unknown"},
	{pattern: `not there any more`, better: "no longer exists"},
	{pattern: `begins? no \w+`, better: "unknown …"},
	{pattern: `com(?:es?|ing) to the same`, better: "is equivalent, reaches the same"},
	{pattern: `could not be put back`, better: "cannot be restored"},
}

// gap is white space between two words of a sentence, with a line break and the marks of a
// comment perhaps.
const gap = `(?:[ \t]+|[ \t\\*/]*\n[ \t]*(?://+|#|\*|;)?[ \t]*)`

type turn struct {
	pattern, spare *regexp.Regexp
	better         string
}

var compiled = func() (all []turn) {
	for _, t := range turns {
		c := turn{better: t.better, pattern: regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(t.pattern, " ", gap) + `)\b`)}
		if t.spare != "" {
			c.spare = regexp.MustCompile(t.spare)
		}
		all = append(all, c)
	}
	return all
}()

var gaps = regexp.MustCompile(gap)

type hit struct {
	line         int
	text, better string
}

// hits are the turns in a text.
func hits(text string) (all []hit) {
	for _, c := range compiled {
		for _, at := range c.pattern.FindAllStringIndex(text, -1) {
			found := gaps.ReplaceAllString(text[at[0]:at[1]], " ")
			if c.spare == nil || !c.spare.MatchString(found) {
				all = append(all, hit{1 + strings.Count(text[:at[0]], "\n"), found, c.better})
			}
		}
	}
	return all
}

// prose reports whether a file has sentences that people read. Generated files have theirs
// from others.
func prose(path string) bool {
	name := filepath.Base(path)
	switch {
	case name == "style_test.go", strings.HasSuffix(name, "_gen.go"), strings.HasSuffix(name, ".pb.go"):
		return false
	case name == "Makefile", filepath.Base(filepath.Dir(path)) == ".ci":
		return true
	}
	return slices.Contains([]string{".go", ".c", ".cc", ".h", ".S", ".s", ".md", ".sh", ".py", ".proto", ".gdb"}, filepath.Ext(name))
}

func TestStyle(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "bin", "dist", "tmp"}, path):
			return filepath.SkipDir
		case !d.Type().IsRegular() || !prose(path):
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, h := range hits(string(text)) {
			t.Errorf("%s:%d: %q: better: %s", path, h.line, h.text, h.better)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 {
		t.Errorf("looked at %d files only", files)
	}
}

// Each turn is found in its sentence, and good sentences pass.
func TestStyleNoticesTurns(t *testing.T) {
	t.Parallel()
	noticed := map[string]bool{}
	for _, bad := range []string{
		"// it waits for\n\t// ever", "that is no heap block", "is no name of a thread", "-1 if there is none", "a long test is no hang", "nobody's wake-up",
		"/* until it comes to\n * main */", "the lock is had", "is put up with", "it runs by itself", "who waits for it", "what came\n# of it",
		"nothing can be said", "the time is over", "a thread gives way", "what it holds on to", "the first that there is", "has itself",
		"every now and then", "what it is called by", "for each two threads", "those that are gone", "a help and no need",
		"rows that go back are damage", "uses up a token", "not made to be run twice", "no process any more that runs", "Taken, without effect.", "said to heddle",
		"memcpy and its kin", "cannot be had", "an operation which there cannot be", "a file that is not there any more",
		"a line begins no record", "both come to the same", "it could not be put back",
	} {
		if len(hits(bad)) == 0 {
			t.Errorf("%q passes", bad)
		}
		for _, h := range hits(bad) {
			noticed[h.better] = true
		}
	}
	for _, c := range compiled {
		if !noticed[c.better] {
			t.Errorf("no sentence here tries %v", c.pattern)
		}
	}
	for _, good := range []string{"waits for every thread", "it is no longer there", "there is no place for it", "forever", "a thread that yields", "it is not a test"} {
		if h := hits(good); len(h) != 0 {
			t.Errorf("%q: %q", good, h)
		}
	}
}
