// Package docsite builds the documentation site: HTML pages from README.md and docs, which work from
// disk as well as from a server.
package docsite

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// repository is where files are that the site refers to but does not include.
const repository = "https://github.com/heddle-dev/heddle/blob/main/"

//go:embed assets
var assets embed.FS

var layout = template.Must(template.ParseFS(assets, "assets/page.html"))

// site is what all pages share.
type site struct {
	root   string // the repository
	topics []Topic
	pages  []*page          // in the order of the navigation
	byMD   map[string]*page // by path in the repository
	files  map[string]bool  // files of docs that pages refer to
}

// Build writes the site of the repository at root into the directory out, and creates it if necessary.
// It reports every page of docs that the navigation lacks, and every link whose target does not exist,
// in one error; the pages are written nevertheless.
func Build(root, out string) error { return build(root, out, navigation) }

func build(root, out string, topics []Topic) error {
	s := &site{root: root, topics: topics, byMD: map[string]*page{}, files: map[string]bool{}}
	var problems []error
	for _, topic := range topics {
		for _, l := range topic.Pages {
			p, err := readPage(root, l)
			if err != nil {
				return err
			}
			s.pages = append(s.pages, p)
			s.byMD[l.File] = p
		}
	}
	problems = append(problems, s.unlisted()...)
	for _, p := range s.pages {
		problems = append(problems, s.resolve(p)...)
	}
	for i, p := range s.pages {
		html, err := s.render(i)
		if err != nil {
			return err
		}
		if err := write(out, p.url, html); err != nil {
			return err
		}
	}
	if err := s.writeFiles(out); err != nil {
		return err
	}
	return errors.Join(problems...)
}

// unlisted reports the Markdown files of docs that are not in the navigation.
func (s *site) unlisted() (problems []error) {
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(s.root, pattern))
		if err != nil {
			return []error{err}
		}
		for _, f := range found {
			rel, _ := filepath.Rel(s.root, f)
			if s.byMD[filepath.ToSlash(rel)] == nil {
				problems = append(problems, fmt.Errorf("%s is not in the navigation: add it to internal/docsite/navigation.go", rel))
			}
		}
	}
	return problems
}

// writeFiles writes the stylesheet, the script, the search index and the files that pages refer to.
func (s *site) writeFiles(out string) error {
	for _, name := range []string{"style.css", "site.js"} {
		data, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return err
		}
		if err := write(out, name, data); err != nil {
			return err
		}
	}
	index, err := json.Marshal(s.index())
	if err != nil {
		return err
	}
	// A script, because a page on disk may not fetch a file.
	if err := write(out, "search-index.js", []byte("window.searchIndex = "+string(index)+";\n")); err != nil {
		return err
	}
	for f := range s.files {
		data, err := os.ReadFile(filepath.Join(s.root, f))
		if err != nil {
			return err
		}
		if err := write(out, fileURL(f), data); err != nil {
			return err
		}
	}
	return nil
}

func write(out, name string, data []byte) error {
	file := filepath.Join(out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// pageURL returns the path in the site of a Markdown file of the repository.
func pageURL(file string) string {
	if file == "README.md" {
		return "index.html"
	}
	return strings.TrimSuffix(strings.TrimPrefix(file, "docs/"), ".md") + ".html"
}

// fileURL returns the path in the site of another file of docs.
func fileURL(file string) string { return strings.TrimPrefix(file, "docs/") }

// relative returns a URL of the site as a page refers to it.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// entry is a link in the navigation of a page.
type entry struct {
	URL, Title string
	Current    bool
	Deep       bool // a page in a directory of docs
}

type group struct {
	Title   string
	Entries []entry
	Current bool // has the page
}

// render returns the HTML of a page.
func (s *site) render(i int) ([]byte, error) {
	p := s.pages[i]
	data := struct {
		Title, Home, Base string
		Topics            []group
		Body              template.HTML
		Contents          []heading
		Prev, Next        *entry
	}{Title: p.title, Home: relative(p.url, "index.html"), Base: relative(p.url, ""), Contents: p.contents()}
	if p.link.File == "README.md" {
		data.Title = "heddle: a workbench for concurrency bugs"
	} else {
		data.Title += " · heddle"
	}
	for _, t := range s.topics {
		g := group{Title: t.Title}
		for _, l := range t.Pages {
			g.Entries = append(g.Entries, entry{
				URL: relative(p.url, pageURL(l.File)), Title: l.Title, Current: l == p.link,
				Deep: strings.Count(l.File, "/") > 1,
			})
			g.Current = g.Current || l == p.link
		}
		data.Topics = append(data.Topics, g)
	}
	if i > 0 {
		data.Prev = &entry{URL: relative(p.url, s.pages[i-1].url), Title: s.pages[i-1].link.Title}
	}
	if i+1 < len(s.pages) {
		data.Next = &entry{URL: relative(p.url, s.pages[i+1].url), Title: s.pages[i+1].link.Title}
	}
	body, err := p.html()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.link.File, err)
	}
	data.Body = template.HTML(body) // from the repository, which is trusted
	var b bytes.Buffer
	err = layout.Execute(&b, data)
	return b.Bytes(), err
}

// resolve makes the links of a page's Markdown into links of the site, and reports those whose target does
// not exist.
func (s *site) resolve(p *page) (problems []error) {
	for _, l := range p.links() {
		dest := string(*l.dest)
		if strings.Contains(dest, "://") || strings.HasPrefix(dest, "mailto:") {
			continue
		}
		target, fragment, _ := strings.Cut(dest, "#")
		file := p.link.File
		if target != "" {
			file = path.Join(path.Dir(p.link.File), target)
		}
		problem := func(why string) {
			problems = append(problems, fmt.Errorf("%s links to %s: %s", p.link.File, dest, why))
		}
		if q := s.byMD[file]; q != nil {
			if fragment != "" && !slices.ContainsFunc(q.headings, func(h heading) bool { return h.ID == fragment }) {
				problem("that page has no such heading")
			}
			to := ""
			if q != p {
				to = relative(p.url, q.url)
			}
			if fragment != "" {
				to += "#" + fragment
			}
			*l.dest = []byte(to)
			if !l.image && fragment == "" {
				l.rename(file, q.title, p.source)
			}
			continue
		}
		info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(file)))
		switch {
		case err != nil || strings.HasPrefix(file, ".."):
			problem("no such file")
		case !info.IsDir() && path.Ext(file) != ".md" && strings.HasPrefix(file, "docs/"):
			s.files[file] = true
			*l.dest = []byte(relative(p.url, fileURL(file)))
		case l.image:
			problem("a picture must be in docs")
		default:
			*l.dest = []byte(repository + file)
		}
	}
	return problems
}
