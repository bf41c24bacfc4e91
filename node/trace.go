package node

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"leasehold/coordinator/conformance"
	"leasehold/models"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/space/trace"
)

// traceFile returns the file of the trace; empty for none. With Conform it is in the data folder unless the
// user names a file.
func traceFile(cfg config.Config) string {
	if cfg.Trace == "" && cfg.Conform {
		return filepath.Join(cfg.Data, "trace.jsonl")
	}
	return cfg.Trace
}

// newCheck returns the check of the trace, or nil.
func (d *DataDir) newCheck() *conformance.Check {
	if !d.cfg.Conform {
		return nil
	}
	return conformance.New(conformance.Config{Trace: traceFile(d.cfg), Log: d.log})
}

// openTrace opens the file that events are logged to. Without one in cfg, write is nil and closeFile does
// nothing. A write error ends the trace; it is logged when it happens and returned by closeFile, because tracing
// must not stop a coordinator. check, if not nil, gets to know what is written.
func openTrace(cfg config.Config, log *slog.Logger, check *conformance.Check) (write func(trace.Event), closeFile func() error, err error) {
	path := traceFile(cfg)
	if path == "" {
		return nil, func() error { return nil }, nil
	}
	failed := func(err error) {
		log.Error("tracing has stopped", "error", err)
		if check != nil {
			check.Stopped(err)
		}
	}
	f, err := trace.Open(path, trace.Limits{Bytes: cfg.TraceBytes, Files: cfg.TraceFiles}, failed)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	if info, err := os.Stat(path); check != nil && (err != nil || !info.Mode().IsRegular()) {
		_ = f.Close() // nothing was written
		return nil, nil, fmt.Errorf("conform: %w: trace %s: want a file, because nothing else can be checked", fault.ErrInvalid, path)
	}
	return func(e trace.Event) {
		e.Tuple, e.Template = models.Redact(e.Tuple), models.Redact(e.Template)
		f.Write(e)
		if check != nil {
			check.Wrote(f.Last())
		}
	}, f.Close, nil
}
