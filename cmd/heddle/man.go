package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wholefile"
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
		return usage.Errorf("cannot write man pages: %w", err)
	}
	out := manJSON{}
	for _, p := range pages {
		name := filepath.Join(c.Dir, p.name+".1")
		if err := wholefile.WriteBytes(name, 0o666, []byte(p.text)); err != nil {
			return usage.Errorf("cannot write man pages: %w", err)
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
	root := parser.Model.Node
	pages := []manPage{overviewPage(root)}
	for _, node := range root.Children {
		if !node.Hidden {
			pages = append(pages, commandPage(root, node))
		}
	}
	return pages, nil
}

// overviewPage is heddle.1: the commands, and the options of every command.
func overviewPage(root *kong.Node) manPage {
	var p roffText
	p.title(root.Name)
	p.name(root.Name, root.Help)
	p.section("SYNOPSIS")
	p.line(root.Name + " <command> [flags]")
	p.section("DESCRIPTION")
	p.text(overview)
	p.section("COMMANDS")
	for _, child := range root.Children {
		if !child.Hidden {
			p.item(root.Name+" "+child.Name, child.Help)
		}
	}
	p.section("OPTIONS")
	p.flags(root.Flags)
	p.end(root, root)
	return manPage{root.Name, p.String()}
}

// commandPage is the page of a command and its subcommands.
func commandPage(root, node *kong.Node) manPage {
	var p roffText
	name := root.Name + "-" + node.Name
	p.title(name)
	p.name(name, node.Help)
	p.section("SYNOPSIS")
	p.line(commandSynopsis(node))
	p.section("DESCRIPTION")
	p.text(node.Help)
	p.text(node.Detail)
	if len(node.Children) > 0 {
		p.section("COMMANDS")
		for _, child := range node.Children {
			p.subsection(commandSynopsis(child))
			p.text(child.Help)
			p.text(child.Detail)
			p.arguments(child)
			p.flags(child.Flags)
		}
	}
	if len(node.Positional) > 0 {
		p.section("ARGUMENTS")
		p.arguments(node)
	}
	if !node.Passthrough {
		p.section("OPTIONS")
		p.flags(node.Flags)
		p.text("The options of every command are in " + root.Name + "(1).")
	}
	p.end(root, node)
	return manPage{name, p.String()}
}

func commandSynopsis(node *kong.Node) string {
	text := synopsis("heddle " + node.Summary())
	if node.Passthrough {
		text = strings.TrimSuffix(text, " [flags]") // the compiler's
	}
	return text
}

// exitStatuses are the meanings of 0, 1, 2 and 3 where a command has its own.
var exitStatuses = map[string]string{
	"cc":    "The compiler's, or 2 if heddle refuses its arguments and 3 if heddle cannot do its work.",
	"c++":   "The compiler's, or 2 if heddle refuses its arguments and 3 if heddle cannot do its work.",
	"check": "0: the derivation holds. 1: a step does not follow, or the simplified trace is not the derivation's result. 2: the command line is wrong. 3: heddle could not do its work, and the message says why.",
	"":      "0: nothing found. 1: a bug was found. 2: the command line is wrong. 3: heddle could not do its work, and the message says why.",
}

// withoutBugs are the commands that never end with 1.
var withoutBugs = []string{"show", "simplify", "convert", "bench", "doctor", "version", "help", "completion", "man"}

// environment are the variables that heddle reads.
var environment = [][2]string{
	{"HEDDLE_CACHE", "The directory for built runtimes; --cache takes precedence. Otherwise heddle/ in the user's cache directory."},
	{"HEDDLE_CC", "The C compiler of heddle cc, and of heddle's runtime. Otherwise cc, gcc or clang."},
	{"HEDDLE_CXX", "The C++ compiler of heddle c++. Otherwise c++, g++ or clang++."},
	{"NO_COLOR", "Without colour, if set; see --no-color."},
}

// roffText is a man page in the language of man(7).
type roffText struct{ strings.Builder }

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`)

// line writes a line of text. It escapes what roff would take for a request.
func (p *roffText) line(text string) {
	text = roffEscapes.Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	p.WriteString(text + "\n")
}

// title writes the title line. It has no date, so that a page depends on the version alone.
func (p *roffText) title(name string) {
	fmt.Fprintf(p, ".TH %q 1 \"\" \"heddle %s\" \"heddle manual\"\n", strings.ToUpper(name), currentVersion().Version)
}

func (p *roffText) section(name string) { fmt.Fprintf(p, ".SH %s\n", name) }

func (p *roffText) subsection(name string) { fmt.Fprintf(p, ".SS %q\n", roffEscapes.Replace(name)) }

// name writes the section that apropos searches.
func (p *roffText) name(name, help string) {
	p.section("NAME")
	p.WriteString(roffEscapes.Replace(name) + ` \- ` + roffEscapes.Replace(strings.TrimSuffix(help, ".")) + "\n")
}

// text writes the paragraphs of a help text. man fills them; paragraphs with indented lines stay
// as they are.
func (p *roffText) text(text string) {
	if text == "" {
		return
	}
	for _, paragraph := range strings.Split(text, "\n\n") {
		if !strings.HasPrefix(paragraph, " ") && !strings.Contains(paragraph, "\n ") {
			p.WriteString(".PP\n")
			p.line(strings.ReplaceAll(paragraph, "\n", " "))
			continue
		}
		p.WriteString(".PP\n.nf\n")
		for _, l := range strings.Split(paragraph, "\n") {
			p.line(l)
		}
		p.WriteString(".fi\n")
	}
}

// item writes a term and what it means.
func (p *roffText) item(term, help string) {
	p.WriteString(".TP\n\\fB" + roffEscapes.Replace(term) + "\\fP\n")
	p.line(help)
}

func (p *roffText) arguments(node *kong.Node) {
	for _, arg := range node.Positional {
		p.item(arg.Summary(), arg.Help)
	}
}

// flags writes flags, those of a group under its title.
func (p *roffText) flags(flags []*kong.Flag) {
	var groups []*kong.Group
	for _, f := range flags {
		switch {
		case f.Hidden:
		case f.Group == nil:
			p.item(f.String(), f.Help)
		case !slices.ContainsFunc(groups, func(g *kong.Group) bool { return g.Key == f.Group.Key }):
			groups = append(groups, f.Group)
		}
	}
	for _, g := range groups {
		p.subsection(g.Title)
		for _, f := range flags {
			if !f.Hidden && f.Group != nil && f.Group.Key == g.Key {
				p.item(f.String(), f.Help)
			}
		}
	}
}

// end writes the sections that every page ends with.
func (p *roffText) end(root, node *kong.Node) {
	p.section("EXIT STATUS")
	status, own := exitStatuses[node.Name]
	switch {
	case own:
	case slices.Contains(withoutBugs, node.Name):
		status = "0: done. 2: the command line is wrong. 3: heddle could not do its work, and the message says why."
	default:
		status = exitStatuses[""]
	}
	p.line(status)
	p.section("ENVIRONMENT")
	for _, v := range environment {
		p.item(v[0], v[1])
	}
	p.section("SEE ALSO")
	p.line(strings.Join(seeAlso(root, node), ", "))
}

// seeAlso lists the other pages.
func seeAlso(root, self *kong.Node) (names []string) {
	if self != root {
		return []string{root.Name + "(1)"}
	}
	for _, child := range root.Children {
		if !child.Hidden {
			names = append(names, root.Name+"-"+child.Name+"(1)")
		}
	}
	return names
}
