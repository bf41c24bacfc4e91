# `make` lists the targets.
SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

COMMIT  := $(shell git describe --always --abbrev=12 --exclude='*' --dirty=.dirty 2>/dev/null || echo unknown)
VERSION := $(shell sed -n 's/^const number = "\(.*\)"$$/\1/p' shared/process/build/build.go)+$(COMMIT)
LDFLAGS := -X leasehold/shared/process/build.commit=$(COMMIT)

# The same flags for everything except tests under -race, so that they share one build cache.
export CGO_ENABLED := 0
export GOFLAGS     := -trimpath

# Seconds of fuzzing, for all targets together, in `make test` and in `make soak`.
FUZZ_SECONDS      ?= 60
SOAK_FUZZ_SECONDS ?= 1800

# Duration of each random chaos test in `make soak`.
SOAK_CHAOS ?= 30m

.PHONY: help build demo check test lint tools soak mutate bench versus versus-clients versus-search bench-clips image dist cross diagrams recording clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build ./leasehold
	go build -ldflags '$(LDFLAGS)' -o leasehold .

demo: build ## find clips in the example podcast, and index this repository
	rm -rf .demo
	./leasehold run examples/podcast --until-idle --data .demo
	./leasehold run . --kind git --until-idle --data .demo/code
	./leasehold search --data .demo/code -n 3 'lang:go "func main"'

tools: ## install the programs that the tests need (apt)
	@.ci/tools

lint: ## check format, vet, staticcheck, go.mod
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	  [ -z "$$unformatted" ] || { echo "gofmt: $$unformatted"; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff

check: ## run the checks before a commit: format, vet, staticcheck, tests that start no process
	@.ci/check

test: ## run all checks that a change must pass
	@mkdir -p .build
	@# Several tests start our programs. With an empty cache each would compile all packages, at the same time.
	@# Tools are downloaded meanwhile.
	@.ci/tools & tools=$$!; built=0; go build ./... || built=1; wait $$tools; exit $$built
	@# The checks use what the tests leave of the processors. They need a third less of it if they collect garbage seldom.
	@GOGC=400 GOMEMLIMIT=4GiB nice -n 19 make --no-print-directory lint cross >.build/checks 2>&1 & checks=$$!; tested=0; \
	  .ci/test .build .ci/events ./... || tested=1; \
	  wait $$checks || { cat .build/checks; tested=1; }; \
	  exit $$tested
	go test -tags browser ./tup4fun/page ./coordinator/page ./internal/drill
	.ci/fuzz $(FUZZ_SECONDS)
	.ci/containers
	@tail -n 1 .build/test-summary

soak: tools ## run the tests for longer: repeats, random checks, crashes, fuzzing
	.ci/tools tsc pip3 flask java javac mh_make
	go test ./clients -count=1 -timeout 60m -clients.stride 1 -clients.checkwhole -clients.checkseed 0
	.ci/race -count=5 -timeout 60m ./...
	.ci/race -count=1 -timeout 60m $$(go list -f '{{$$p := .}}{{range .TestImports}}{{if eq . "pgregory.net/rapid"}}{{$$p.ImportPath}} {{end}}{{end}}{{range .XTestImports}}{{if eq . "pgregory.net/rapid"}}{{$$p.ImportPath}} {{end}}{{end}}' ./... | sort -u) -rapid.checks=10000
	.ci/race ./shared/catalog/store ./coordinator/api -count=1 -timeout 60m -run IsACatalog -rapid.checks=1000
	.ci/race ./coordinator/visits -count=1 -timeout 60m -run Flood -flood 100000
	go test ./cmd -count=1 -timeout 60m -v -run LiveVisits -visits.live 10m
	go test ./cmd -count=1 -timeout 60m -run LargePutsOnABusyMachine -flood.large 48
	go test ./shared/space/journal/pebble -count=1 -timeout 60m -run 'RandomCorruption|EachFileOperation' -corruptions 2500 -failures 10000
	go test ./shared/clips/match -count=1 -timeout 60m -run NoFlood -match.crowd 1000
	go test ./node -count=1 -timeout 60m -run Fault57 -network.seeds 10000
	go test ./shared/protocol/work/worktest -count=1 -timeout 60m -run Fault60 -leak.tasks 1000000
	go test ./node -count=1 -timeout 60m -run Fault60 -leak.tasks 1000000
	go test ./coordinator/gate/native -count=1 -timeout 60m -run Fault36Idle -gate.crowd 10000
	go test ./shared/code/elastic -count=1 -timeout 60m -v -run 'ClusterThatLoses|FaultsOfARealNode' -faults.three -faults.long
	go test ./shared/code/elastic -count=1 -timeout 240m -v -run CostTheSame -many.repos 100000
	go test -count=1 -timeout 0 ./internal/chaos -v -chaos.time $(SOAK_CHAOS)
	go test -count=1 -timeout 0 ./internal/chaos -v -run DisturbedRuns -chaos.rounds 30
	go test -tags browser ./internal/drill -count=1 -timeout 60m -run Several -drill.rounds 30
	go -C internal/versus vet ./...
	SPIN_PROGRAMS=200 go test -count=1 -timeout 30m ./tup4fun/promela
	.ci/windows
	.ci/fuzz $(SOAK_FUZZ_SECONDS)

# go-gremlins changes one package at a time, and runs the tests of that package.
PKG      ?= ./shared/tuple
GREMLINS := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0

mutate: ## change the code of PKG in many places; print the changes that its tests do not notice
	nice go run $(GREMLINS) unleash --workers 1 --timeout-coefficient 10 $(PKG)

bench: ## run every benchmark, for the figures in docs/benchmarks.md
	go test -run '^$$' -bench . -benchmem ./...

# The clients of the other queues are in a Go module of their own.
VERSUS ?=
versus: build ## compare tasks with Redis, Asynq, River and beanstalkd; VERSUS='-slots 32'
	@.ci/tools redis-server beanstalkd
	cd internal/versus && go run . $(VERSUS)

# The packages of the other queues are not in this tree: ../shared/peers/README.md.
PEERS ?= ../shared/peers
versus-clients: build ## compare workers with BullMQ, Dramatiq, Huey, Celery and RQ; VERSUS='-handlers 8'
	@.ci/tools redis-server java javac
	cd internal/versus && go run ./clients -peers '$(abspath $(PEERS))' $(VERSUS)

# Copies of Go's sources.
COPIES ?= 1
NODES  ?= 0
versus-search: ## compare code search on a search server with the embedded index; COPIES=9, NODES=3
	go test ./shared/code/elastic -count=1 -timeout 0 -v -run VersusEmbedded -versus.copies $(COPIES) -versus.nodes $(NODES)

# Packages and sets are kept in the user's cache folder: about 3 GB.
bench-clips: build tools ## measure how well clips are found; writes tables of docs/benchmarks.md
	./leasehold clips bench --set report,dev --oracle 60 --free-hours 20 --write docs/benchmarks.md

image: ## build the container image leasehold
	rm -rf .build/image
	mkdir -p .build/image/root/tmp
	mkdir -m 700 .build/image/root/data
	go build -ldflags '-s -w $(LDFLAGS)' -o .build/image/leasehold .
	docker build -q -t leasehold -f docker/Dockerfile .build/image

dist: ## build archives for Linux, macOS, Windows and FreeBSD, with checksums
	.ci/dist '$(VERSION)' '$(LDFLAGS)'

cross: ## check the types of every package and its tests for other systems
	go run ./internal/typecheck windows/amd64,darwin/arm64,freebsd/arm64 ./...

diagrams: ## draw docs/diagrams again, one of them from a new trace
	go test ./internal/docs -count=1 -run Diagrams -update

recording: ## record docs/demo.svg again
	go test ./internal/docs -count=1 -run Recording -update

clean: ## remove build results
	rm -rf leasehold .build .demo
