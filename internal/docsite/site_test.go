package docsite

import (
	"html"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
)

// built is the site of this repository, by path in it. Build finds no broken link, no heading that a link
// lacks and no page that the navigation lacks.
func built(t *testing.T) (dir string, files map[string]string) {
	t.Helper()
	dir = t.TempDir()
	if err := Build("../..", dir); err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir, files
}

var (
	target  = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	idOf    = regexp.MustCompile(` id="([^"]*)"`)
	article = regexp.MustCompile(`(?s)<article>.*</article>`)
)

// targets are the files of the site that some HTML of a page refers to, with fragments.
func targets(page, text string) (all []string) {
	for _, m := range target.FindAllStringSubmatch(text, -1) {
		to := html.UnescapeString(m[1])
		if strings.Contains(to, ":") {
			continue
		}
		file, fragment, _ := strings.Cut(to, "#")
		if file == "" {
			file = page
		} else {
			file = path.Join(path.Dir(page), file)
		}
		all = append(all, file+"#"+fragment)
	}
	return all
}

// The HTML is checked on its own, besides what Build checks in the Markdown.
func TestLinksResolve(t *testing.T) {
	t.Parallel()
	_, files := built(t)
	n := 0
	for name, text := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		ids := map[string]int{}
		for _, m := range idOf.FindAllStringSubmatch(text, -1) {
			if ids[m[1]]++; ids[m[1]] == 2 {
				t.Errorf("%s has two elements with id %s", name, m[1])
			}
		}
		for _, to := range targets(name, text) {
			n++
			file, fragment, _ := strings.Cut(to, "#")
			other, ok := files[file]
			if !ok {
				t.Errorf("%s refers to %s, which does not exist", name, file)
			} else if fragment != "" && !strings.Contains(other, ` id="`+fragment+`"`) {
				t.Errorf("%s refers to %s, which has no such element", name, to)
			}
		}
	}
	if n < 1000 {
		t.Errorf("the site has only %d links", n)
	}
}

// A reader who follows links in the text reaches every page.
func TestPagesAreLinked(t *testing.T) {
	t.Parallel()
	_, files := built(t)
	reached, queue := map[string]bool{"index.html": true}, []string{"index.html"}
	for len(queue) > 0 {
		page := queue[0]
		queue = queue[1:]
		for _, to := range targets(page, article.FindString(files[page])) {
			file, _, _ := strings.Cut(to, "#")
			if path.Ext(file) == ".html" && !reached[file] {
				reached[file] = true
				queue = append(queue, file)
			}
		}
	}
	for name := range files {
		if path.Ext(name) == ".html" && !reached[name] {
			t.Errorf("no text links to %s", name)
		}
	}
}

// Build must notice what is wrong.
func TestBuildReportsProblems(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"fine":           {map[string]string{"README.md": "# A\n\n[b](docs/b.md#c-d)\n", "docs/b.md": "# B\n\n## C `d`!\n\n[a](../README.md)\n"}, ""},
		"missing file":   {map[string]string{"README.md": "# A\n\n[b](docs/c.md)\n", "docs/b.md": "# B\n"}, "README.md links to docs/c.md: no such file"},
		"missing image":  {map[string]string{"README.md": "# A\n", "docs/b.md": "# B\n\n![b](b.svg)\n"}, "docs/b.md links to b.svg: no such file"},
		"outside":        {map[string]string{"README.md": "# A\n\n[b](../b)\n", "docs/b.md": "# B\n"}, "README.md links to ../b: no such file"},
		"missing anchor": {map[string]string{"README.md": "# A\n\n[b](docs/b.md#c)\n", "docs/b.md": "# B\n"}, "README.md links to docs/b.md#c: that page has no such heading"},
		"own anchor":     {map[string]string{"README.md": "# A\n\n[b](#c)\n", "docs/b.md": "# B\n"}, "README.md links to #c: that page has no such heading"},
		"unlisted":       {map[string]string{"README.md": "# A\n", "docs/b.md": "# B\n", "docs/x/c.md": "# C\n"}, "docs/x/c.md is not in the navigation"},
		"no title":       {map[string]string{"README.md": "A\n", "docs/b.md": "# B\n"}, "README.md does not begin with a heading of level 1"},
		"missing page":   {map[string]string{"README.md": "# A\n"}, "docs/b.md: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for file, text := range test.files {
				if err := write(root, file, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			err := build(root, t.TempDir(), []Topic{{"T", []Link{{"README.md", "A"}, {"docs/b.md", "B"}}}})
			if got := errorText(err); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("error %q, want %q", got, test.want)
			}
		})
	}
}

// A link that shows a file's name shows the title of the page in the site.
func TestFileNamesBecomeTitles(t *testing.T) {
	t.Parallel()
	root, out := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{"README.md": "# A\n\n[docs/b.md](docs/b.md) [b.md](docs/b.md) [that](docs/b.md) [b.md](docs/b.md#b--c)\n", "docs/b.md": "# B & C\n"} {
		if err := write(root, file, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := build(root, out, []Topic{{"T", []Link{{"README.md", "A"}, {"docs/b.md", "B"}}}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `<p><a href="b.html">B &amp; C</a> <a href="b.html">B &amp; C</a> <a href="b.html">that</a> <a href="b.html#b--c">b.md</a></p>`
	if !strings.Contains(string(text), want) {
		t.Errorf("the text is\n%s\nwant\n%s", article.Find(text), want)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Anchors are GitHub's, since the same links must work there.
func TestAnchor(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, test := range []struct{ title, want string }{
		{"When a search ends", "when-a-search-ends"},
		{"heddle show --html", "heddle-show---html"},
		{"What is shown, and why?", "what-is-shown-and-why"},
		{"Go's own race report", "gos-own-race-report"},
		{"HD_ABI_VERSION 3", "hd_abi_version-3"},
		{"When a search ends", "when-a-search-ends-1"},
	} {
		if got := anchor(test.title, seen); got != test.want {
			t.Errorf("anchor(%q) = %q, want %q", test.title, got, test.want)
		}
	}
}

var tag = regexp.MustCompile(`<[^>]*>`)

// Colours change nothing but colours: without tags, each block is the text of the Markdown.
func TestHighlightKeepsText(t *testing.T) {
	t.Parallel()
	n := 0
	for _, topic := range navigation {
		for _, l := range topic.Pages {
			p, err := readPage("../..", l)
			if err != nil {
				t.Fatal(err)
			}
			ast.Walk(p.doc, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
				block, ok := node.(*ast.FencedCodeBlock)
				if !ok || !entering {
					return ast.WalkContinue, nil
				}
				n++
				code := string(block.Lines().Value(p.source))
				if got := html.UnescapeString(tag.ReplaceAllString(highlight(string(block.Language(p.source)), code), "")); got != code {
					t.Errorf("%s: %q became %q", l.File, code, got)
				}
				return ast.WalkContinue, nil
			})
		}
	}
	if n < 100 {
		t.Errorf("only %d blocks of code", n)
	}
}

func TestHighlight(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ language, code, want string }{
		{"c", `if (x < 1) puts("a//b"); // c`, `<span class="keyword">if</span> (x &lt; <span class="number">1</span>) puts(<span class="string">&#34;a//b&#34;</span>); <span class="comment">// c</span>`},
		{"c", "#include <x.h>", `<span class="directive">#include</span> &lt;x.h&gt;`},
		{"go", "go f(`<`)", "<span class=\"keyword\">go</span> f(<span class=\"string\">`&lt;`</span>)"},
		{"sh", "heddle find --runs 3 -- ./a # b", `<span class="keyword">heddle find</span><span class="flag"> --runs</span> 3 -- ./a <span class="comment"># b</span>`},
		{"diff", "-a\n+b\n c\n", "<span class=\"removed\">-a</span>\n<span class=\"added\">+b</span>\n c\n"},
		{"text", "deadlock: <T1>\nno failure in 3\n", "<span class=\"bad\">deadlock: &lt;T1&gt;</span>\n<span class=\"good\">no failure in 3</span>\n"},
		{"other", "<if>", "&lt;if&gt;"},
	} {
		if got := highlight(test.language, test.code); got != test.want {
			t.Errorf("%s: %s\n got %s\nwant %s", test.language, test.code, got, test.want)
		}
	}
}
