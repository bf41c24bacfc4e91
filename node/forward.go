package node

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"leasehold/shared/status"
)

// forwarding calls run while f puts the lines of the log and pauses of the process are
// logged, and waits for all.
func forwarding(ctx context.Context, f *status.Forwarder, log *slog.Logger, run func() error) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var beside sync.WaitGroup
	beside.Go(func() { f.Run(ctx) })
	beside.Go(func() { logPauses(ctx, log) })
	defer beside.Wait()
	defer cancel()
	return run()
}

// awakeUnder is the pause up to which a process counts as awake, as for the engine.
const awakeUnder = 2500 * time.Millisecond

// logPauses logs for how long this process did not run, because it was stopped or its machine
// was suspended or had no processor time. Else its log would name only the consequences.
func logPauses(ctx context.Context, log *slog.Logger) {
	const interval = time.Second
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for last := time.Now(); ; last = time.Now() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if pause := time.Since(last) - interval; pause > awakeUnder {
			log.Warn("this process did not run for a time; if its session is lost meanwhile, its tasks are offered to others", "pause", pause.Round(time.Millisecond))
		}
	}
}
