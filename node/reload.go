package node

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"leasehold/shared/config"
)

// ReloadOnHangup calls load at each SIGHUP until ctx ends or stop is called, and applies
// what may change while a process runs: the log level. It logs every other setting that
// has changed, because that takes effect at the next start. If load fails, nothing
// changes. stop waits until a reload under way has ended.
func ReloadOnHangup(ctx context.Context, cfg config.Config, load func() (config.Config, error), level *slog.LevelVar, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-hangups:
				now, err := load()
				if err != nil {
					log.Error("the settings are invalid and stay unchanged", "error", err)
					continue
				}
				level.Set(now.LogLevel)
				cfg.LogLevel = now.LogLevel // in use now, so it is not reported as changed
				reportChanges(cfg, now, log)
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		signal.Stop(hangups)
		cancel()
		<-done
	}
}

// reportChanges logs which settings of now differ from those in use, and that the settings were
// reloaded. Differences are logged as errors, because an operator expects them to have an effect.
// Values lists the same keys in the same order for each Config.
func reportChanges(used, now config.Config, log *slog.Logger) {
	old := used.Values()
	for i, v := range now.Values() {
		if old[i].Value != v.Value {
			log.Error("a changed setting takes effect at the next start", "key", v.Key, "from", old[i].Value, "to", v.Value)
		}
	}
	// Never below the configured level, so that the operator sees that SIGHUP had an effect.
	log.Log(context.Background(), max(slog.LevelInfo, now.LogLevel), "the settings were reloaded", "log-level", now.LogLevel)
}
