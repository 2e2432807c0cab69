package docsite

// Topic is a heading of the navigation, with its pages in reading order.
type Topic struct {
	Title string
	Pages []Link
}

// Link is a page of the site: a Markdown file, by its path in the repository, and its title in the
// navigation.
type Link struct{ File, Title string }

// navigation has every page of the site.
var navigation = []Topic{
	{"Start", []Link{
		{"README.md", "What heddle does"},
		{"docs/tutorial-c.md", "Tutorial: C"},
		{"docs/tutorial-go.md", "Tutorial: Go"},
		{"docs/limitations.md", "Limitations"},
		{"CHANGELOG.md", "Changes"},
	}},
	{"Findings", []Link{
		{"docs/findings.md", "What heddle finds"},
		{"docs/terms.md", "Terms"},
		{"docs/findings/assertion.md", "Assertion failure"},
		{"docs/findings/signal.md", "Fatal signal"},
		{"docs/findings/misuse.md", "Misuse"},
		{"docs/findings/exception.md", "Uncaught exception"},
		{"docs/findings/panic.md", "Panic"},
		{"docs/findings/fatal-error.md", "Fatal error"},
		{"docs/findings/deadlock.md", "Deadlock"},
		{"docs/findings/hang.md", "Hang"},
		{"docs/findings/livelock.md", "Livelock"},
		{"docs/findings/test-failure.md", "Test failure"},
		{"docs/findings/exit.md", "Exit status"},
		{"docs/findings/wrong-output.md", "Wrong output"},
		{"docs/findings/data-race.md", "Data race"},
		{"docs/findings/goroutine-leak.md", "Goroutine leak"},
	}},
	{"Searching", []Link{
		{"docs/exploration.md", "What a search covers"},
		{"docs/go.md", "Go packages"},
		{"docs/primitives.md", "Threads and locks in C and C++"},
		{"docs/signals.md", "Signals and time"},
		{"docs/isolation.md", "Isolation"},
		{"docs/atomicity.md", "Atomicity violations"},
		{"docs/live.md", "Threads in parallel"},
		{"docs/determinism.md", "Determinism"},
		{"docs/ci.md", "Continuous integration"},
	}},
	{"Understanding a failure", []Link{
		{"docs/explain.md", "Why it fails"},
		{"docs/compare.md", "A good run beside the bad one"},
		{"docs/pages.md", "A page to pass on"},
		{"docs/view.md", "In the terminal"},
		{"docs/debugger.md", "In the debugger"},
		{"docs/exports.md", "For other tools"},
		{"docs/mcp.md", "For agents"},
		{"docs/json.md", "JSON and exit statuses"},
	}},
	{"Comparing executions", []Link{
		{"docs/sanitize.md", "Whatever their schedules"},
		{"docs/inject.md", "Faults"},
	}},
	{"Experience", []Link{
		{"docs/real-programs.md", "Programs from Debian"},
		{"docs/go-results.md", "Go packages of others"},
		{"docs/speed.md", "Speed"},
	}},
	{"Traces", []Link{
		{"docs/trace-format.md", "On disk"},
		{"docs/traces-and-memory.md", "From others, and memory"},
		{"docs/static.md", "Static simplification"},
	}},
	{"Inside", []Link{
		{"docs/architecture.md", "Architecture"},
		{"docs/algorithms.md", "Algorithms"},
		{"docs/scheduler.md", "The scheduler contract"},
		{"docs/abi.md", "Controller and runtime"},
		{"docs/system-calls.md", "System calls"},
		{"docs/go-releases.md", "A new release of Go"},
		{"CONTRIBUTING.md", "Contributing"},
	}},
}
