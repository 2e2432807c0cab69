package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
	"github.com/muesli/roff"
)

type manCommand struct {
	Dir string `arg:"" predictor:"dir" help:"The directory to write to."`
}

func (manCommand) Help() string {
	return `Writes the manual as man pages: heddle.1, and heddle-COMMAND.1 for each command. make install
puts them where man looks for them.`
}

type manJSON struct {
	Pages []string `json:"pages"`
}

func (c *manCommand) Run(a *app) error {
	pages, err := manPages()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o777); err != nil {
		return fmt.Errorf("cannot write man pages: %w", err)
	}
	out := manJSON{}
	for _, p := range pages {
		name := filepath.Join(c.Dir, p.name+".1")
		if err := os.WriteFile(name, []byte(p.text), 0o666); err != nil {
			return fmt.Errorf("cannot write man pages: %w", err)
		}
		out.Pages = append(out.Pages, name)
	}
	if a.JSON {
		return a.printJSON(out)
	}
	for _, name := range out.Pages {
		fmt.Fprintln(a.stdout, name)
	}
	return nil
}

type manPage struct{ name, text string }

// overview is the description on heddle's own page.
const overview = "heddle runs a C or C++ program that uses threads, or the tests of a Go package, under many " +
	"interleavings until one fails. It replays that interleaving, simplifies it to the context switches " +
	"that the failure needs, and shows it. Begin with heddle find or heddle test; heddle doctor says " +
	"whether this machine and a program can be used."

// manPages returns heddle's man pages, made from what --help prints.
func manPages() ([]manPage, error) {
	parser, err := newParser(new(commandLine), nil, nil, func(int) {})
	if err != nil {
		return nil, err
	}
	root := parser.Model
	pages := []manPage{}
	for _, node := range append([]*kong.Node{root.Node}, root.Children...) {
		if node.Hidden {
			continue
		}
		page := *node
		page.Detail = unwrap(page.Detail)
		if node == root.Node {
			page.Detail = overview
		}
		if node != root.Node {
			page.Name = root.Name + "-" + node.Name
		}
		usage := root.Name + " <command> [flags]"
		if node != root.Node {
			usage = synopsis(root.Name + " " + node.Summary())
		}
		man := mangokong.NewManPage(1, &kong.Application{Node: &page}).
			WithSection("Exit Status", "0: nothing found. 1: a bug was found. 2: the command line is wrong. 3: heddle could not do its work, and the message says why.").
			WithSection("See Also", seeAlso(root.Node, page.Name))
		pages = append(pages, manPage{page.Name, heading(page.Name) + body(man.Build(roff.NewDocument()), usage)})
	}
	return pages, nil
}

// heading returns a page's title line. The library's own has the date of the build and the whole
// summary.
func heading(name string) string {
	return fmt.Sprintf(".TH %q 1 \"\" \"heddle %s\" \"heddle manual\"\n", strings.ToUpper(name), currentVersion().Version)
}

// body returns a page after its title line, with the synopsis of --help: the library's own lacks
// subcommands and arguments.
func body(page, synopsis string) string {
	_, rest, _ := strings.Cut(page[strings.Index(page, ".TH"):], "\n")
	before, after, found := strings.Cut(rest, ".SH SYNOPSIS\n")
	_, after, _ = strings.Cut(after, "\n")
	if !found {
		return rest
	}
	return before + ".SH SYNOPSIS\n" + strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(synopsis) + "\n" + after
}

// unwrap joins the lines of a help text's paragraphs, because man wraps them itself. Indented lines
// stay unchanged.
func unwrap(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if !strings.Contains(p, "\n ") && !strings.HasPrefix(p, " ") {
			paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
		}
	}
	return strings.Join(paragraphs, "\n")
}

// seeAlso lists the other pages.
func seeAlso(root *kong.Node, self string) string {
	var names []string
	if self != root.Name {
		names = append(names, root.Name+"(1)")
	} else {
		for _, child := range root.Children {
			if !child.Hidden {
				names = append(names, root.Name+"-"+child.Name+"(1)")
			}
		}
	}
	return strings.Join(names, ", ")
}
