package docsite

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// page is a Markdown file and its place in the site.
type page struct {
	link     Link
	url      string // in the site
	title    string // its first heading
	source   []byte
	doc      ast.Node
	headings []heading
}

// heading is a heading of a page with GitHub's anchor of it.
type heading struct {
	Level    int
	ID, Text string
}

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(blockRenderer{}, 100))),
)

func readPage(root string, l Link) (*page, error) {
	source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(l.File)))
	if err != nil {
		return nil, err
	}
	p := &page{link: l, url: pageURL(l.File), title: l.Title, source: source, doc: markdown.Parser().Parse(text.NewReader(source))}
	seen := map[string]int{}
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			text := plain(h, source)
			id := anchor(text, seen)
			h.SetAttributeString("id", []byte(id))
			p.headings = append(p.headings, heading{h.Level, id, text})
		}
	}
	if len(p.headings) == 0 || p.headings[0].Level != 1 {
		return nil, fmt.Errorf("%s does not begin with a heading of level 1", l.File)
	}
	p.title = p.headings[0].Text
	return p, nil
}

// anchor returns the identifier that GitHub gives a heading. seen counts the identifiers of a page.
func anchor(title string, seen map[string]int) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, title)
	n := seen[id]
	seen[id]++
	if n > 0 {
		id += "-" + strconv.Itoa(n)
	}
	return id
}

// plain returns the text of a node without markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() || t.HardLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// reference is a link or an image.
type reference struct {
	node  ast.Node
	dest  *[]byte
	image bool
}

// rename gives a link whose text is the name of a file the title of the page.
func (r reference) rename(file, title string, source []byte) {
	if text := plain(r.node, source); text == file || text == path.Base(file) {
		r.node.RemoveChildren(r.node)
		r.node.AppendChild(r.node, ast.NewString([]byte(title)))
	}
}

func (p *page) links() (all []reference) {
	ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link:
			if entering {
				all = append(all, reference{n, &n.Destination, false})
			}
		case *ast.Image:
			if entering {
				all = append(all, reference{n, &n.Destination, true})
			}
		}
		return ast.WalkContinue, nil
	})
	return all
}

// contents returns the headings for the list beside the page.
func (p *page) contents() (all []heading) {
	for _, h := range p.headings {
		if h.Level == 2 || h.Level == 3 {
			all = append(all, h)
		}
	}
	return all
}

func (p *page) html() ([]byte, error) {
	var b bytes.Buffer
	err := markdown.Renderer().Render(&b, p.source, p.doc)
	// Wide tables scroll on their own.
	out := bytes.ReplaceAll(b.Bytes(), []byte("<table>"), []byte(`<div class="wide"><table>`))
	return bytes.ReplaceAll(out, []byte("</table>"), []byte("</table></div>")), err
}

// section is an entry of the search index: the text below a heading.
type section struct {
	URL   string `json:"u"`
	Page  string `json:"p"`
	Title string `json:"t"`
	Text  string `json:"x"`
}

// index returns the sections of all pages, with the text of blocks of code left out.
func (s *site) index() (all []section) {
	for _, p := range s.pages {
		at := section{URL: p.url, Page: p.title, Title: p.title}
		i := 0
		for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
			if _, ok := n.(*ast.Heading); ok {
				if i > 0 {
					all = append(all, at)
					at = section{URL: p.url + "#" + p.headings[i].ID, Page: p.title, Title: p.headings[i].Text}
				}
				i++
				continue
			}
			at.Text = strings.TrimSpace(at.Text + " " + words(n, p.source))
		}
		all = append(all, at)
	}
	return all
}

// words returns the text of a block, with spaces between its parts.
func words(n ast.Node, source []byte) string {
	if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeInline {
		return plain(n, source)
	}
	var parts []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if w := words(c, source); w != "" {
			parts = append(parts, w)
		}
	}
	return strings.Join(parts, " ")
}
