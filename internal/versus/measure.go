package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// backlog is how many tasks wait at the beginning of a measurement.
const backlog = 1000

// warmUp is how long the slots run before they are measured.
const warmUp = 300 * time.Millisecond

// data is the content of a task, as JSON.
var data = `"` + strings.Repeat("x", 198) + `"`

// peer is one of the compared queues.
type peer interface {
	name() string
	pid() int
	// begin empties the queue, fills it with the backlog, and starts its workers. It returns a
	// turn for each slot: a call of it creates batch tasks, and returns when it has consumed
	// as many results.
	begin(ctx context.Context, slots, batch int) (turns []func() error, err error)
	end() error
	// once connects an idle worker. It returns a function that creates a task and returns the time until the
	// worker has it; nil if the peer polls.
	once(ctx context.Context) (func() (time.Duration, error), error)
}

// series is what was measured of a peer.
type series struct {
	rates           []float64 // tasks per second
	server, clients time.Duration
	tasks           int64
}

// compareRates measures the peers in turns, because the speed of the machine changes, and prints
// a table with the ratios of the first to the others.
func compareRates(ctx context.Context, kind string, peers []peer, s settings) error {
	all := make([]series, len(peers))
	for range s.repeats {
		for n, p := range peers {
			if err := all[n].measure(ctx, p, s); err != nil {
				return fmt.Errorf("%s: %w", p.name(), err)
			}
		}
	}
	fmt.Printf("\n%s, %d slots, batches of %d; %d turns of %s\n\n", kind, s.slots, s.batch, s.repeats, s.lasts)
	fmt.Println("| peer | tasks/s, median (lowest to highest) | leasehold divided by it, median (lowest to highest) | CPU of the server, of the clients, per task |")
	fmt.Println("|---|---|---|---|")
	for n, p := range peers {
		ratios := make([]float64, s.repeats)
		for turn := range ratios {
			ratios[turn] = all[0].rates[turn] / all[n].rates[turn]
		}
		ratio := "–"
		if n > 0 {
			ratio = spread(ratios, "%.2f")
		}
		fmt.Printf("| %s | %s | %s | %.0f, %.0f µs |\n", p.name(), spread(all[n].rates, "%.0f"), ratio,
			perTask(all[n].server, all[n].tasks), perTask(all[n].clients, all[n].tasks))
	}
	return nil
}

// spread returns the median, and the lowest and the highest value.
func spread(values []float64, format string) string {
	v := slices.Sorted(slices.Values(values))
	return fmt.Sprintf(format+" ("+format+"–"+format+")", v[len(v)/2], v[0], v[len(v)-1])
}

// perTask returns the microseconds for each task; without tasks as for one.
func perTask(d time.Duration, tasks int64) float64 {
	return float64(d.Microseconds()) / float64(max(1, tasks))
}

// measure runs the slots of a peer once: for the warm-up, and then for s.lasts, in which it
// counts tasks and processor time. The first error of a slot, or the end of ctx, ends it at
// once. Otherwise it waits until all slots have ended their turns.
func (m *series) measure(ctx context.Context, p peer, s settings) error {
	turns, err := p.begin(ctx, s.slots, s.batch)
	if err != nil {
		return err
	}
	var done atomic.Int64
	var stopping atomic.Bool
	var running sync.WaitGroup
	failed := make(chan error, len(turns))
	for _, turn := range turns {
		running.Go(func() {
			for !stopping.Load() {
				if err := turn(); err != nil {
					failed <- err
					return
				}
				done.Add(int64(s.batch))
			}
		})
	}
	sleep := func(d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := sleep(warmUp); err != nil {
		return err
	}
	began, doneBefore, before := time.Now(), done.Load(), useOf(p.pid())
	if err := sleep(s.lasts); err != nil {
		return err
	}
	after, tasks := useOf(p.pid()), done.Load()-doneBefore
	m.rates = append(m.rates, float64(tasks)/time.Since(began).Seconds())
	m.server += after.server - before.server
	m.clients += after.clients - before.clients
	m.tasks += tasks
	stopping.Store(true)
	running.Wait()
	return p.end()
}

// compareLatency prints the time from the creation of a task to the start of its handler, of the
// peers that do not poll. They are measured in turns, each time when all are idle.
func compareLatency(ctx context.Context, kind string, peers []peer, times int) error {
	var names []string
	var onces []func() (time.Duration, error)
	for _, p := range peers {
		once, err := p.once(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name(), err)
		}
		if once != nil {
			names, onces = append(names, p.name()), append(onces, once)
		}
	}
	took := make([][]float64, len(onces))
	for range times {
		for n, once := range onces {
			d, err := once()
			if err != nil {
				return fmt.Errorf("%s: %w", names[n], err)
			}
			took[n] = append(took[n], float64(d.Microseconds()))
			time.Sleep(2 * time.Millisecond) // so that all are idle
		}
	}
	fmt.Printf("\n%s, idle, %d tasks one after the other: from create to the start of the handler\n\n| peer | p50 | p99 | leasehold's p50 divided by it |\n|---|---|---|---|\n", kind, times)
	for n := range onces {
		slices.Sort(took[n])
		p50, p99 := took[n][times/2], took[n][times*99/100]
		fmt.Printf("| %s | %.0f µs | %.0f µs | %.2f |\n", names[n], p50, p99, took[0][times/2]/p50)
	}
	return nil
}

// use is the processor time so far.
type use struct{ server, clients time.Duration }

// useOf returns the processor time of a server with its child processes, and of this
// program.
func useOf(server int) use {
	return use{processorTime(server, true), processorTime(os.Getpid(), false)}
}
