package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// settings say what is measured.
type settings struct {
	tasks, latencies int
	handlers         []int
	only             string // beginnings of names, with commas
	program, peers   string // leasehold, and the folder with the packages of the others
}

// peer is one client with its server.
type peer struct {
	name    string
	command []string // its program, to which what it does is added
	redis   bool
	fewer   int // its tasks are divided by it
	most    int // handlers; 0: no limit
}

func main() {
	var s settings
	flag.IntVar(&s.tasks, "tasks", 4000, "tasks of each measurement")
	flag.IntVar(&s.latencies, "latencies", 100, "tasks for the latency")
	handlers := flag.String("handlers", "1,8,32", "numbers of handlers")
	flag.StringVar(&s.only, "only", "", "beginnings of the names of peers, with commas; empty: all")
	flag.StringVar(&s.program, "program", "../../leasehold", "path of leasehold")
	flag.StringVar(&s.peers, "peers", "../../../shared/peers", "folder with bullmq-*.tgz and wheels")
	flag.Parse()
	for _, text := range strings.Split(*handlers, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			fmt.Fprintf(os.Stderr, "versus: handlers %q: want numbers from 1 on, with commas\n", text)
			os.Exit(2)
		}
		s.handlers = append(s.handlers, n)
	}
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "versus:", err)
		os.Exit(1)
	}
}

// run measures all peers, one after the other, each with a new server.
func run(s settings) error {
	program = s.program
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "versus-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	all, err := install(ctx, dir, s)
	if err != nil {
		return err
	}
	fmt.Printf("%d tasks that add 1; tasks/s and µs of processor time of the server and of the worker a task, by handlers\n\n| peer |", s.tasks)
	for _, n := range s.handlers {
		fmt.Printf(" %d: tasks/s | server, worker |", n)
	}
	fmt.Printf(" latency p50, p99 |\n|---|%s---|\n", strings.Repeat("---|---|", len(s.handlers)))
	for _, p := range all {
		if !slices.ContainsFunc(strings.Split(s.only, ","), func(name string) bool { return strings.HasPrefix(strings.ToLower(p.name), strings.ToLower(name)) }) {
			continue
		}
		if err := p.measure(ctx, dir, s); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// measure prints the row of a peer.
func (p peer) measure(ctx context.Context, dir string, s settings) error {
	fmt.Printf("| %s |", p.name)
	for _, n := range s.handlers {
		if p.most > 0 && n > p.most {
			fmt.Print(" – | – |")
			continue
		}
		tasks := s.tasks / max(1, p.fewer)
		m, err := p.once(ctx, dir, n, tasks)
		if err != nil {
			return fmt.Errorf("%d handlers: %w", n, err)
		}
		fmt.Printf(" %.0f | %d, %d |", float64(tasks)/m.took.Seconds(), m.server.Microseconds()/int64(tasks), m.worker.Microseconds()/int64(tasks))
	}
	took, err := p.latencies(ctx, dir, s.latencies)
	if err != nil {
		return err
	}
	slices.Sort(took)
	fmt.Printf(" %.1f, %.1f ms |\n", took[len(took)/2], took[len(took)*99/100])
	return nil
}

// install makes the packages of the peers ready in dir, and returns all peers.
func install(ctx context.Context, dir string, s settings) ([]peer, error) {
	programs, err := filepath.Abs("clients/programs")
	if err != nil {
		return nil, err
	}
	ours, err := filepath.Abs("../../clients")
	if err != nil {
		return nil, err
	}
	peers, err := filepath.Abs(s.peers)
	if err != nil {
		return nil, err
	}
	python := filepath.Join(dir, "python", "bin", "python")
	java := filepath.Join(dir, "java")
	for _, command := range [][]string{
		{"python3", "-m", "venv", filepath.Join(dir, "python")},
		{python, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", filepath.Join(peers, "wheels"), "celery", "redis", "rq", "dramatiq", "huey", "packaging"},
		{"sh", "-c", `tar xzf "$0"/bullmq-*.tgz -C "$1" && cp "$2"/bullmq.mjs "$1"`, peers, dir, programs},
		{"javac", "-d", java, filepath.Join(ours, "java", "Leasehold.java"), filepath.Join(programs, "Add.java")},
	} {
		if err := runCommand(ctx, command); err != nil {
			return nil, err
		}
	}
	in := func(name string) string { return filepath.Join(programs, name) }
	return []peer{
		{name: "Leasehold, JavaScript", command: []string{"node", in("leasehold.mjs")}},
		{name: "BullMQ", command: []string{"node", filepath.Join(dir, "bullmq.mjs")}, redis: true},
		{name: "Leasehold, Python", command: []string{python, "-B", in("leaseholdqueue.py")}},
		{name: "Leasehold, Python asyncio", command: []string{python, "-B", in("leaseholdqueue.py"), "async"}},
		{name: "Dramatiq", command: []string{python, "-B", in("dramatiqqueue.py")}, redis: true},
		{name: "Huey", command: []string{python, "-B", in("hueyqueue.py")}, redis: true},
		{name: "Celery, threads", command: []string{python, "-B", in("celeryqueue.py")}, redis: true},
		{name: "RQ", command: []string{python, "-B", in("rqqueue.py")}, redis: true, fewer: 20, most: 1},
		{name: "Leasehold, Java", command: []string{"java", "-Xshare:auto", "-cp", java, "Add"}},
	}, nil
}
