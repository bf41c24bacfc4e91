package node

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"leasehold/shared/protocol/status"
)

// runForwarding calls run and returns its error. Meanwhile f puts lines of the log into the spaces,
// and pauses of the process are logged; both end after run, not with ctx, so that the last lines
// are put too.
func runForwarding(ctx context.Context, f *status.Forwarder, log *slog.Logger, run func() error) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var background sync.WaitGroup
	background.Go(func() { f.Run(ctx) })
	background.Go(func() { logPauses(ctx, log) })
	defer background.Wait()
	defer cancel()
	return run()
}

// leastPause is the shortest pause worth a log entry. The engine has the same limit.
const leastPause = 2500 * time.Millisecond

// logPauses logs for how long this process did not run, because it was stopped or its machine
// was suspended or had no processor time, until ctx ends. Without that its log would name only the
// consequences, such as a lost session. It measures by how late a tick of a second comes.
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
		if pause := time.Since(last) - interval; pause > leastPause {
			log.Warn("this process did not run for a time; if its session is lost meanwhile, its tasks are offered to others", "pause", pause.Round(time.Millisecond))
		}
	}
}
