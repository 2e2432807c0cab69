# make          build bin/heddle
# make install  install heddle, its man pages and completions below PREFIX (/usr/local)
# make dist     write a release archive to dist/
# make demo     show what it is about, on a small program with a bug
# make test     all tests
# make bench    benchmarks, one second each, then bench-programs
# make bench-check  tests that compare times, the best of several tries; nothing else should run on the machine
# make bench-programs  programs that compute, against ThreadSanitizer (docs/speed.md)
# make bench-search  how soon each strategy finds the bugs of the test programs (docs/exploration.md)
# make bench-controller  how much of the processor time of a search is heddle's own, and what -j gains (docs/exploration.md)
# make bench-ctrigger  heddle atomicity against its rivals, as CTrigger's paper measures it (docs/atomicity.md)
# make bench-races  data races found, by ThreadSanitizer's own tests (docs/exploration.md)
# make bench-endings  whether a hang is one, on generated programs with locks of their own making (docs/exploration.md)
# make lint     formatting, go vet, C warnings, go.mod, dead code, layers, wording
# make site     the documentation as HTML pages, in ./site
# make generate write generated files again
# make whole    the test programs with all executions and replays that docs/ tell of, and with each release of Go
# make e2e      the test programs without heddle, real programs (from Debian's sources), and the tutorials
# make e2e-projects  the own tests of public projects (from Debian's sources); every finding has to be judged

GO ?= go
# A list of packages to test or measure instead of all: make test PKG=./trace
PKG ?= ./...
RUNTIME_CC = $$(command -v $${HEDDLE_CC:-cc} gcc clang 2>/dev/null | head -n 1)

.PHONY: all install uninstall dist demo test bench bench-check bench-programs bench-search bench-controller bench-ctrigger bench-races bench-endings bench-sanitize bench-inject bench-explain lint site generate whole e2e e2e-projects build need-go need-cc setup-demo setup-test
.DEFAULT_GOAL := all

all: build

# Go itself knows best what has changed.
build: need-go
	@mkdir -p bin
	$(GO) build -o bin/heddle ./cmd/heddle
	@ln -sf heddle bin/heddle-cc
	@ln -sf heddle bin/heddle-c++

# DESTDIR is put before PREFIX, for packages.
PREFIX ?= /usr/local
DESTDIR ?=

install: build
	@set -e; root="$(DESTDIR)$(PREFIX)"; heddle=bin/heddle; $(STAGE)
	@echo "installed heddle in $(DESTDIR)$(PREFIX)/bin"

# What an installation is made of: $$heddle and its files, below $$root.
define STAGE
install -d "$$root/bin" "$$root/share/man/man1" "$$root/share/bash-completion/completions" \
  "$$root/share/zsh/site-functions" "$$root/share/fish/vendor_completions.d"; \
install -m 755 $$heddle "$$root/bin/heddle"; \
ln -sf heddle "$$root/bin/heddle-cc"; ln -sf heddle "$$root/bin/heddle-c++"; \
$$heddle man "$$root/share/man/man1" >/dev/null; \
$$heddle completion bash >"$$root/share/bash-completion/completions/heddle"; \
$$heddle completion zsh >"$$root/share/zsh/site-functions/_heddle"; \
$$heddle completion fish >"$$root/share/fish/vendor_completions.d/heddle.fish"
endef

uninstall:
	rm -f "$(DESTDIR)$(PREFIX)/bin/heddle" "$(DESTDIR)$(PREFIX)/bin/heddle-cc" "$(DESTDIR)$(PREFIX)/bin/heddle-c++" \
	  "$(DESTDIR)$(PREFIX)"/share/man/man1/heddle.1 "$(DESTDIR)$(PREFIX)"/share/man/man1/heddle-*.1 \
	  "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/heddle" \
	  "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_heddle" \
	  "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/heddle.fish"

# The version is the tag's, or the commit's.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)

# The binary needs no library of the machine it was built on, and names none of its paths.
dist: need-go
	@set -e; name="heddle-$(VERSION)-linux-amd64"; mkdir -p dist; rm -rf "dist/$$name"; \
	CGO_ENABLED=0 $(GO) build -trimpath -o dist/heddle ./cmd/heddle; \
	root="dist/$$name"; heddle=dist/heddle; $(STAGE); \
	cp -R README.md CHANGELOG.md LICENSE docs "$$root/"; \
	tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)}" -cf - "$$name" | gzip -n >"dist/$$name.tar.gz"; \
	rm -rf "dist/$$name" dist/heddle; echo "wrote dist/$$name.tar.gz"

need-go:
	@command -v $(GO) >/dev/null || { echo "Go is missing: install Go 1.25 or later from https://go.dev/dl, and put it into PATH." >&2; exit 1; }

# What the demo or the tests need is installed where the machine lets it.
setup-demo setup-test:
	@GO="$(GO)" .ci/setup $(@:setup-%=%)

need-cc:
	@test -n "$(RUNTIME_CC)" || { echo "A C compiler is missing: install gcc or clang (on Debian and Ubuntu: apt-get install gcc g++), or set HEDDLE_CC." >&2; exit 1; }

demo: setup-demo build
	@PATH="$(CURDIR)/bin:$$PATH" sh cmd/heddle/testdata/demo.sh

test: setup-test
	$(GO) test -timeout 60m $(PKG)

bench: need-go need-cc
	$(GO) test -run '^$$' -bench . -benchtime 1s $(PKG)
	@$(MAKE) --no-print-directory bench-programs

# One package at a time, so that they do not disturb each other.
bench-check: need-go need-cc
	HEDDLE_SPEED=1 $(GO) test -count=1 -p 1 -run '^TestSpeed' -v $(PKG)

# Its flags: make bench-programs PROGRAMBENCH='-accesses 10000000 -json'
PROGRAMBENCH ?=

bench-programs: need-go need-cc
	$(GO) run ./internal/testing/programbench $(PROGRAMBENCH)

# Its flags: make bench-search SEARCHBENCH='-seeds 5 -programs reorder,two_stage -json'
SEARCHBENCH ?=

bench-search: build need-cc
	$(GO) run ./internal/testing/searchbench -heddle bin/heddle $(SEARCHBENCH)

# Its flags: make bench-controller CONTROLLERBENCH='-time 10s -strategies random -json'
CONTROLLERBENCH ?=

bench-controller: build need-cc
	$(GO) run ./internal/testing/controllerbench -heddle bin/heddle $(CONTROLLERBENCH)

# Sanitised traces: false deviations under so many schedules, and how time grows with the trace.
SANITIZERUNS ?= 1000

bench-sanitize: need-go need-cc
	$(GO) test -count=1 -timeout 60m -run '^TestSanitize(Go)?$$' -v ./cmd/heddle -sanitize.runs $(SANITIZERUNS)
	$(GO) test -run '^$$' -bench . ./internal/analysis/canonical
	$(GO) test -run '^$$' -bench '^BenchmarkRecord$$' -benchtime 10x ./cmd/heddle

# Faults of each model in each program of testdata/sanitize: none may have another outcome without a deviation.
INJECTFAULTS ?= 5000

bench-inject: need-cc
	$(GO) test -count=1 -timeout 120m -run '^TestInject$$' -v ./cmd/heddle -inject.faults $(INJECTFAULTS)

# Why the C programs of testdata/programs/fail fail.
bench-explain: need-cc
	$(GO) test -count=1 -timeout 60m -run '^TestExplain(Go)?$$' -v ./cmd/heddle -explain.all

# Its flags: make bench-ctrigger CTRIGGERBENCH='-programs log_index -limit 60s -json'
CTRIGGERBENCH ?=

bench-ctrigger: need-go need-cc
	$(GO) run ./internal/testing/ctriggerbench $(CTRIGGERBENCH)

# Fetches LLVM's sources (130 MB) from Debian. Its flags: make bench-races RACEBENCH='-programs simple_race.c -json'
RACEBENCH ?=

bench-races: build need-cc
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	cmd/heddle/testdata/fetch-source.sh llvm-toolchain-14 "$$dir" && \
	$(GO) run ./internal/testing/racebench -heddle bin/heddle -tests "$$dir/source/compiler-rt/test/tsan" $(RACEBENCH)

# Its flags: make bench-endings ENDINGSBENCH='-programs 2000 -compilers gcc,clang -native 100 -json'
ENDINGSBENCH ?=

bench-endings: build need-cc
	$(GO) run ./internal/testing/endingsbench -heddle bin/heddle $(ENDINGSBENCH)

lint: need-go
	@GO="$(GO)" .ci/lint

site: need-go
	@rm -rf site
	@$(GO) run ./internal/docsite/build -o site

generate: need-go need-cc
	@command -v protoc >/dev/null || { echo "protoc is missing: install it (on Debian and Ubuntu: apt-get install protobuf-compiler)." >&2; exit 1; }
	GOBIN="$(CURDIR)/bin" $(GO) install google.golang.org/protobuf/cmd/protoc-gen-go
	PATH="$(CURDIR)/bin:$$PATH" $(GO) generate ./...

whole: need-go
	HEDDLE_WHOLE=1 $(GO) test -count=1 -timeout 120m -run '^Test(Go(Programs|Sanitizer|Hooks|Watch)(Releases)?|(Passing|Failing)Programs|StaticMergingFirst|Omit|LibrariesPass)$$' -v ./cmd/heddle
	HEDDLE_WHOLE=1 $(GO) test -count=1 -timeout 60m ./internal/strategy ./internal/engine ./internal/target/goprog/patch ./internal/target/cprog

e2e: build need-cc
	$(GO) test -tags e2e -count=1 -timeout 15m -v -run '^Test(ProgramsBuildAndRunAlone|RealPrograms|Tutorials|Frameworks)$$' ./cmd/heddle

# One project: make e2e-projects PROJECT=lmdb
e2e-projects: build need-cc
	$(GO) test -tags e2e -count=1 -timeout 90m -v -run '^TestPublicProjects$$/$(PROJECT)' ./cmd/heddle
