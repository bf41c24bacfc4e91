package cmd

import (
	"log/slog"

	"leasehold/shared/config"
)

// newLogger logs to standard error as the configuration says.
func (a *app) newLogger(cfg config.Config) *slog.Logger {
	opts := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == config.LogJSON {
		return slog.New(slog.NewJSONHandler(a.err, opts))
	}
	return slog.New(slog.NewTextHandler(a.err, opts))
}
