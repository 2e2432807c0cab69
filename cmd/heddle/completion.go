package main

import (
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/posener/complete"

	"github.com/heddle-dev/heddle/internal/strategy"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCommand) Help() string {
	return `Prints a script that makes the shell complete heddle's commands, flags and files. In a
start-up file of the shell:

  bash:  source <(heddle completion bash)
  zsh:   source <(heddle completion zsh)
  fish:  heddle completion fish | source`
}

// completionScripts make a shell ask heddle itself, through COMP_LINE: the answers are those
// of the heddle in PATH, of any version.
var completionScripts = map[string]string{
	"bash": "complete -o default -o bashdefault -C heddle heddle\n",
	// Sourced, it registers the completion; as the file _heddle in zsh's function path, it also
	// answers the call that loads it.
	"zsh": `#compdef heddle
(( ${+functions[compdef]} )) || { autoload -U compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
complete -o default -o bashdefault -C heddle heddle
[[ ${funcstack[1]-} != _heddle ]] || _bash_complete -o default -o bashdefault -C heddle
`,
	"fish": `function __heddle_complete
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct); and set COMP_LINE "$COMP_LINE "
    heddle
end
complete -c heddle -a "(__heddle_complete)"
`,
}

func (c *completionCommand) Run(a *app) error {
	_, err := fmt.Fprint(a.stdout, completionScripts[c.Shell])
	return err
}

// completes answers a shell that asks for completions of the command line in COMP_LINE. It
// returns false if no shell does.
func completes(stdout io.Writer) bool {
	if _, asked := os.LookupEnv("COMP_LINE"); !asked {
		return false
	}
	parser, err := newParser(new(commandLine), io.Discard, io.Discard, func(int) {})
	if err != nil {
		return false
	}
	files := complete.PredictFiles("*")
	command, err := kongcompletion.Command(parser, kongcompletion.WithPredictors(map[string]complete.Predictor{
		"file":      files,
		"trace":     complete.PredictOr(complete.PredictFiles("*.hdl"), complete.PredictDirs("*")),
		"dir":       complete.PredictDirs("*"),
		"isolation": complete.PredictSet("snapshot", "fork", "process"),
		"strategy": complete.PredictFunc(func(complete.Args) (names []string) {
			return strategy.Names()
		}),
		"search": complete.PredictFunc(func(complete.Args) (names []string) {
			return strategy.SearchNames()
		}),
		"command": complete.PredictFunc(func(complete.Args) (names []string) {
			for _, child := range parser.Model.Children {
				names = append(names, child.Name)
			}
			return names
		}),
	}))
	if err != nil {
		return false
	}
	c := complete.New(parser.Model.Name, command)
	c.Out = stdout
	return c.Complete()
}

type helpCommand struct {
	Command []string `arg:"" optional:"" predictor:"command" help:"The command."`
}

func (helpCommand) Help() string {
	return `Prints what heddle COMMAND --help prints, or what heddle --help prints if no command is named.`
}

// Run is never called: helpWords turns the command into --help before it is parsed.
func (helpCommand) Run(*app) error { return nil }

// helpWords turns "help COMMAND" into "COMMAND --help".
func helpWords(words []string) []string {
	if len(words) > 0 && words[0] == "help" {
		return append(words[1:len(words):len(words)], "--help")
	}
	return words
}

// versionFlag prints the version, as heddle version does, and ends heddle.
type versionFlag bool

func (versionFlag) BeforeReset(k *kong.Kong) error {
	err := versionCommand{}.Run(&app{stdout: k.Stdout})
	k.Exit(exitNothing)
	return err
}
