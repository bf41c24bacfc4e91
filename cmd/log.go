package cmd

import (
	"log/slog"

	"leasehold/shared/config"
)

// newLogger logs to standard error as the configuration says, until its level is read
// again (reload).
func (a *app) newLogger(cfg config.Config) *slog.Logger {
	a.level.Set(cfg.LogLevel)
	opts := &slog.HandlerOptions{Level: &a.level}
	if cfg.LogFormat == config.LogJSON {
		return slog.New(slog.NewJSONHandler(a.err, opts))
	}
	return slog.New(slog.NewTextHandler(a.err, opts))
}
