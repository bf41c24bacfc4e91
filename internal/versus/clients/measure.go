package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// measured is one measurement, between the start of the first handler and the end of the last.
type measured struct{ took, server, worker time.Duration }

// once has tasks created, and then done.
func (p peer) once(ctx context.Context, dir string, handlers, tasks int) (m measured, err error) {
	server, err := p.serve(ctx, dir)
	if err != nil {
		return m, err
	}
	defer server.stop()
	if err := runCommand(ctx, p.words("create", server.address, strconv.Itoa(tasks))); err != nil {
		return m, err
	}
	worker, lines, err := p.start(ctx, "work", server.address, strconv.Itoa(handlers), strconv.Itoa(tasks))
	if err != nil {
		return m, err
	}
	defer worker.stop()
	var began time.Time
	for lines.Scan() {
		switch lines.Text() {
		case "first":
			began = time.Now()
			m.server, m.worker = processorTime(server.pid), processorTime(worker.pid)
		case "last":
			m.took = time.Since(began)
			m.server, m.worker = processorTime(server.pid)-m.server, processorTime(worker.pid)-m.worker
			return m, nil
		}
	}
	return m, fmt.Errorf("the worker ended before its last task: %w", lines.Err())
}

// latencies returns the milliseconds from create to the handler of so many tasks.
func (p peer) latencies(ctx context.Context, dir string, number int) (took []float64, err error) {
	server, err := p.serve(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	worker, lines, err := p.start(ctx, "work", server.address, "1", "0")
	if err != nil {
		return nil, err
	}
	defer worker.stop()
	creator, _, err := p.start(ctx, "slowly", server.address, strconv.Itoa(number))
	if err != nil {
		return nil, err
	}
	defer creator.stop()
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "latency ")
		if !ok {
			continue
		}
		ms, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		took = append(took, ms)
		if len(took) == number {
			return took[number/10:], nil // the first ones compile
		}
	}
	return nil, fmt.Errorf("the worker ended before its last task: %w", lines.Err())
}

func (p peer) words(more ...string) []string {
	return append(append([]string{}, p.command...), more...)
}

// running is a process, which stop ends.
type running struct {
	address string
	pid     int
	stop    func()
}

// start starts the program of the peer, and returns what it prints.
func (p peer) start(ctx context.Context, more ...string) (running, *bufio.Scanner, error) {
	words := p.words(more...)
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Stderr = &quiet{}
	out, err := command.StdoutPipe()
	if err != nil {
		return running{}, nil, err
	}
	if err := command.Start(); err != nil {
		return running{}, nil, err
	}
	return running{pid: command.Process.Pid, stop: func() {
		_ = command.Process.Kill() // it may have ended
		_ = command.Wait()
	}}, bufio.NewScanner(out), nil
}

// quiet drops what workers log; if one fails, run its program alone.
type quiet struct{}

func (*quiet) Write(p []byte) (int, error) { return io.Discard.Write(p) }

// serve starts a new server of the peer.
func (p peer) serve(ctx context.Context, dir string) (running, error) {
	folder, err := os.MkdirTemp(dir, "server-")
	if err != nil {
		return running{}, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return running{}, err
	}
	_, port, _ := net.SplitHostPort(free.Addr().String()) // it is an address
	if err := free.Close(); err != nil {
		return running{}, err
	}
	s := running{address: "http://127.0.0.1:" + port}
	words := []string{program, "coordinator", "--data", folder, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:" + port}
	if p.redis {
		s.address = "redis://127.0.0.1:" + port + "/0"
		words = []string{"redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", folder, "--appendonly", "yes", "--appendfsync", "always", "--loglevel", "warning"}
	}
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	if err := command.Start(); err != nil {
		return running{}, fmt.Errorf("%w (make versus-clients installs it)", err)
	}
	s.pid = command.Process.Pid
	s.stop = func() { _ = command.Process.Signal(syscall.SIGTERM); _ = command.Wait() }
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil && (p.redis || announced(folder)) {
			return s, c.Close()
		}
		if time.Now().After(end) {
			s.stop()
			return running{}, fmt.Errorf("%s did not start: %w", words[0], err)
		}
	}
}

// program is the binary of leasehold.
var program string

// announced reports whether a coordinator is ready.
func announced(folder string) bool {
	var at struct{ HTTP string }
	text, err := os.ReadFile(filepath.Join(folder, "coordinator.json"))
	return err == nil && json.Unmarshal(text, &at) == nil && at.HTTP != ""
}

func runCommand(ctx context.Context, words []string) error {
	printed, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %.2000s", strings.Join(words, " "), err, printed)
	}
	return nil
}

// processorTime returns the processor time of a process with its children that have ended. It reads /proc of Linux.
func processorTime(pid int) (total time.Duration) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // it may have ended
	_, rest, ok := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if err != nil || !ok || len(fields) < 15 {
		return 0
	}
	for _, ticks := range fields[11:15] {
		n, _ := strconv.Atoi(ticks) // the kernel prints numbers
		total += time.Duration(n) * 10 * time.Millisecond
	}
	return total
}
