# `make` says what there is.
SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -X leasehold/cmd.version=$(VERSION)

# One way to compile everything but tests under -race, so that one cache serves all.
export CGO_ENABLED := 0
export GOFLAGS     := -trimpath

# With -race pointers are checked too. SQLite is C that was translated to Go: of its
# pointers that costs half the time and says nothing.
RACE := CGO_ENABLED=1 GOFLAGS= go test -race -gcflags=modernc.org/...=-d=checkptr=0

# How long `make test` fuzzes, all targets together, and `make soak` likewise.
FUZZ_SECONDS      ?= 60
SOAK_FUZZ_SECONDS ?= 1800

# How long `make soak` kills processes, each kind of chaos.
SOAK_CHAOS ?= 30m

.PHONY: help build demo test lint tools soak bench bench-clips image diagrams recording clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build ./leasehold
	go build -ldflags '$(LDFLAGS)' -o leasehold .

demo: build ## find clips in the example podcast
	rm -rf .demo
	./leasehold run examples/podcast --until-idle --data .demo

tools: ## install what the tests need (apt)
	@.ci/tools

lint: ## check format, vet, staticcheck, go.mod
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	  [ -z "$$unformatted" ] || { echo "gofmt: $$unformatted"; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff

test: tools ## everything that a change must pass
	.ci/test .build '$(RACE) -timeout 30m -json' ./...
	go test -tags browser ./tup4fun/page
	$(MAKE) --no-print-directory lint
	.ci/fuzz $(FUZZ_SECONDS)
	.ci/containers
	@tail -n 1 .build/test-summary

soak: tools ## the same for longer: repeats, random checks, crashes, fuzzing
	$(RACE) -count=5 -timeout 60m ./...
	$(RACE) -count=1 -timeout 60m $$(go list -f '{{$$p := .}}{{range .TestImports}}{{if eq . "pgregory.net/rapid"}}{{$$p.ImportPath}} {{end}}{{end}}{{range .XTestImports}}{{if eq . "pgregory.net/rapid"}}{{$$p.ImportPath}} {{end}}{{end}}' ./... | sort -u) -rapid.checks=10000
	$(RACE) ./coordinator/visit/store -count=1 -timeout 60m -run Flood -flood 100000
	go test ./shared/work/worktest -count=1 -timeout 60m -run Fault60 -leak.tasks 1000000
	go test ./coordinator/gate/native -count=1 -timeout 60m -run Fault36Idle -gate.crowd 10000
	go test -count=1 -timeout 0 ./internal/chaos -v -chaos.time $(SOAK_CHAOS)
	SPIN_PROGRAMS=200 go test -count=1 -timeout 30m ./tup4fun/promela
	.ci/fuzz $(SOAK_FUZZ_SECONDS)

bench: ## every benchmark; the figures in docs/benchmarks.md are its
	@.ci/tools redis-server beanstalkd
	go test -run '^$$' -bench . -benchmem ./...

# Packages and sets are kept in the user's cache folder: about 3 GB.
bench-clips: build tools ## how well clips are found; writes the tables of docs/benchmarks.md
	./leasehold audio bench --set report,dev --oracle 60 --free-hours 20 --write docs/benchmarks.md

image: ## make the container image leasehold from the binary that is built here
	rm -rf .build/image
	mkdir -p .build/image/data .build/image/tmp
	go build -ldflags '-s -w $(LDFLAGS)' -o .build/image/leasehold .
	docker build -q -t leasehold -f docker/Dockerfile .build/image

diagrams: ## draw docs/diagrams again, one of them from a new trace
	go test ./internal/docs -count=1 -run Diagrams -update

recording: ## record docs/demo.svg again
	go test ./internal/docs -count=1 -run Recording -update

clean: ## remove what was built
	rm -rf leasehold .build .demo
