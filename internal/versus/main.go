package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// settings say what is measured.
type settings struct {
	slots   int
	batch   int // tasks that a slot creates, claims, resolves and consumes at once
	repeats int
	lasts   time.Duration // of one measurement of one peer, after its warm-up
	only    string
	journal string
	latency int      // measurements of the latency; 0: none
	peers   []string // beginnings of their names
	program []string // of leasehold; several are compared with the first
}

// main reads the flags; without a value they are as in the documentation.
func main() {
	var s settings
	flag.IntVar(&s.latency, "latency", 0, "instead measure the time from create to the start of the handler, so many times")
	flag.IntVar(&s.slots, "slots", 8, "slots")
	flag.IntVar(&s.batch, "batch", 1, "tasks that a slot handles at once")
	flag.IntVar(&s.repeats, "repeats", 5, "measurements of each peer")
	flag.DurationVar(&s.lasts, "for", 2*time.Second, "duration of one measurement")
	flag.StringVar(&s.only, "only", "", "durable or memory; empty: both")
	flag.StringVar(&s.journal, "journal", "pebble", "of leasehold while it is durable: pebble or postgres; several with commas are compared with the first")
	names := flag.String("peers", "", "beginnings of the names of the peers, with commas; empty: all")
	programs := flag.String("program", "../../leasehold", "paths of leasehold, with commas: the others are compared with the first")
	flag.Parse()
	s.peers, s.program = strings.Split(*names, ","), strings.Split(*programs, ",")
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "versus:", err)
		os.Exit(1)
	}
}

// run starts the servers, measures, and stops them: first those that are durable, then those in
// memory. An interrupt ends it.
func run(s settings) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "versus-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL does not run as root
		return err
	}
	for _, durable := range []bool{true, false} {
		kind := map[bool]string{true: "durable", false: "memory"}[durable]
		if s.only != "" && s.only != kind {
			continue
		}
		h := &host{ctx: ctx, dir: dir}
		err := measureAll(h, s, kind, durable)
		h.stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// measureAll starts and measures the peers of one kind: durable ones, or ones in memory, which
// only Redis and Asynq have. The first peer is Leasehold, with which the others are compared.
func measureAll(h *host, s settings, kind string, durable bool) error {
	starts := []func(*host, bool) (peer, error){startRedis, startAsynq, startRiver, startBeanstalkd}
	names := []string{"redis", "asynq", "river", "beanstalkd"}
	if !durable {
		starts = starts[:2]
	}
	journals := strings.Split(s.journal, ",")
	if !durable {
		journals = []string{"memory"}
	}
	var peers []peer
	for _, program := range s.program {
		for _, journal := range journals {
			p, err := startLeasehold(h, journal, program)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", program, journal, err)
			}
			peers = append(peers, p)
		}
	}
	for n, start := range starts {
		if !slices.ContainsFunc(s.peers, func(name string) bool { return strings.HasPrefix(names[n], name) }) {
			continue
		}
		p, err := start(h, durable)
		if err != nil {
			return fmt.Errorf("%s: %w", names[n], err)
		}
		peers = append(peers, p)
	}
	if s.latency > 0 {
		return compareLatency(h.ctx, kind, peers, s.latency)
	}
	return compareRates(h.ctx, kind, peers, s)
}
