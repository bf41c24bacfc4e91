package cmd

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"leasehold/shared/config"
)

// reloading has what may change while a process works read again at each SIGHUP,
// until ctx ends; stop waits for that. It is the log level. Another setting that has
// changed is named, and counts from the next start; settings that are not in order
// change nothing.
func (a *app) reloading(ctx context.Context, cfg config.Config) (stop func()) {
	log := a.newLogger(cfg)
	ctx, cancel := context.WithCancel(ctx)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-hangups:
				cfg = a.reload(cfg, log)
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

// reload reads the settings as at the start, and returns those that count now.
func (a *app) reload(was config.Config, log *slog.Logger) config.Config {
	now, err := config.Load(a.flags)
	if err != nil {
		log.Error("the settings are not in order, and stay as they are", "error", err)
		return was
	}
	a.level.Set(now.LogLevel)
	for i, v := range now.Values() {
		if old := was.Values()[i]; old.Value != v.Value && v.Key != "log-level" {
			log.Error("a setting has changed, which counts from the next start", "key", v.Key, "from", old.Value, "to", v.Value)
		}
	}
	log.Log(context.Background(), max(slog.LevelInfo, now.LogLevel), "the settings were read again", "log-level", now.LogLevel)
	was.LogLevel = now.LogLevel
	return was
}
