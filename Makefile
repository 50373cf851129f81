# The front door. Each target installs what it needs first (tools/setup) and then calls CMake.
prefix  ?= /usr/local
DESTDIR ?=
SECONDS ?= 60
JOBS    ?= $(shell nproc)
UP      ?= build/eider build/up

bindir  = $(DESTDIR)$(prefix)/bin
mandir  = $(DESTDIR)$(prefix)/share/man/man1
bashdir = $(DESTDIR)$(prefix)/share/bash-completion/completions
zshdir  = $(DESTDIR)$(prefix)/share/zsh/site-functions
fishdir = $(DESTDIR)$(prefix)/share/fish/vendor_completions.d
libdir  = $(DESTDIR)$(prefix)/lib
sources = $(shell find src include examples tests bench -name '*.[ch]')

.DEFAULT_GOAL := help
.PHONY: help up demo build dev test chaos bench tidy lint format docs screenshots fuzz install uninstall clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1	\2/p' $(MAKEFILE_LIST) | expand -t 12

up: build ## build, then a daemon with the DAGs of examples/; Ctrl-C ends it
	@tools/up $(UP)

demo: build ## build, then run examples/pipeline.yaml to the end with live progress
	@rm -rf build/demo && mkdir -p build/demo
	EIDER_HOME=$(CURDIR)/build/demo build/eider run examples/pipeline.yaml
	@echo "Its report: EIDER_HOME=build/demo build/eider logs pipeline publish"

build: ## the program that users run: build/eider
	@tools/setup build
	@mkdir -p build
	@cmake --preset release >build/release.log 2>&1 || { cat build/release.log; exit 1; }
	@cmake --build --preset release -j $(JOBS)

dev: ## the same with AddressSanitizer and UBSan, and the unit tests: build/dev
	@tools/setup test
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev -j $(JOBS)

test: ## everything that has to pass; ends with 'N passed, N failed'
	@tools/setup test
	@tools/run-tests

chaos: build ## a fleet under kills, pauses, restarts and cut links, then a checker; ARGS="--minutes 60"
	@tools/setup test
	@$$(tools/find-pytest psycopg2) tests/chaos/run.py $(ARGS)

bench: build ## measure against the limits of this machine and a peer, print the tables
	@tools/setup bench
	@code=0; for part in run fleet schedule api; do python3 bench/$$part.py || code=1; done; \
	node bench/ui.mjs || code=1; exit $$code

tidy: ## layers, names, sizes, forbidden calls
	@tools/setup test
	@python3 tools/tidy.py

lint: dev ## clang-tidy over src/
	@tools/lint

format: ## clang-format over our C files
	@tools/setup test
	@clang-format-14 -i $(sources)

docs: build ## write the parts of docs/ that are made from the program's tables
	@tools/write-docs build/eider
	@mkdir -p docs/images
	@build/eider dags graph examples/pipeline.yaml --format svg >docs/images/pipeline.svg

screenshots: build ## pictures of the web pages, into docs/images
	@tools/setup test
	@node ui/tests/browser/screenshots.mjs docs/images

fuzz: ## look for inputs that crash a parser, SECONDS=60 for each
	@tools/setup test
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz -j $(JOBS) --target tests/fuzz/all
	@tools/fuzz explore $(SECONDS)

install: build ## into $(DESTDIR)$(prefix): program, man page, completions, C library
	install -d $(bindir) $(mandir) $(bashdir) $(zshdir) $(fishdir)
	install -m 755 build/eider $(bindir)/eider
	build/eider man >$(mandir)/eider.1
	build/eider completion bash >$(bashdir)/eider
	build/eider completion zsh >$(zshdir)/_eider
	build/eider completion fish >$(fishdir)/eider.fish
	DESTDIR=$(DESTDIR) cmake --install build/release --component library --prefix $(prefix)

uninstall: ## remove what install put there
	rm -f $(bindir)/eider $(mandir)/eider.1 $(bashdir)/eider $(zshdir)/_eider $(fishdir)/eider.fish
	rm -f $(libdir)/libeider.* $(libdir)/pkgconfig/eider.pc $(DESTDIR)$(prefix)/include/eider.h

clean: ## remove build/
	rm -rf build
