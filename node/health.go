package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leasehold/node/locate"
	"leasehold/shared/api/client"
	"leasehold/shared/api/join"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
	"leasehold/shared/process/clock"
	"leasehold/shared/process/platform"
)

// sessionFile names the session of a manager or a worker, in its folder, for Health.
const sessionFile = "session"

// writeSession writes the id of this process's session to its folder, for Health. An error is
// logged only, because the process works without it.
func writeSession(dir, session string, log *slog.Logger) {
	if err := os.WriteFile(filepath.Join(dir, sessionFile), []byte(session+"\n"), 0o600); err != nil {
		log.Warn("cannot write the file that leasehold health reads", "error", err)
	}
}

// Health checks the process of mode cfg.Mode whose data folder is cfg.Data, and describes the state that it
// found. A coordinator must answer, or stand by. One of the folder's managers or workers must have a session at the
// coordinator, or Health returns fault.ErrNotFound. If the coordinator authenticates, it is asked with the certificate of
// one of them, and Health never joins. If the coordinator does not answer, they wait for it.
// Starting them again would not help, so Health returns nil.
func Health(ctx context.Context, cfg config.Config) (found string, err error) {
	if cfg.Mode == config.Coordinator {
		if locate.StandsBy(ctx, cfg) {
			return "the coordinator stands by", nil
		}
		return "the coordinator answers", locate.Call(ctx, cfg, func(context.Context, *client.Client) error { return nil })
	}
	sessions, err := sessionsBelow(cfg.Data, cfg.Mode)
	if err != nil {
		return "", err
	}
	err = callAsProcess(ctx, cfg, func(ctx context.Context, api *client.Client) error {
		present, err := client.List[types.Session](ctx, api, "status", nil, client.PageSize, client.All)
		if err != nil {
			return err
		}
		for _, s := range present.Items {
			if slices.Contains(sessions, s.ID) {
				found = s.ID + ": " + s.State
				return nil
			}
		}
		return fmt.Errorf("no %s with a folder in %s has a session at the coordinator: %w", cfg.Mode, cfg.Data, fault.ErrNotFound)
	})
	if errors.Is(err, fault.ErrUnavailable) {
		return "the " + cfg.Mode + " waits for the coordinator: " + err.Error(), nil
	}
	return found, err
}

// callAsProcess calls do as locate.Call does, but with the certificate of a process of the data folder if one has joined.
// If there is only a join line, do gets fault.ErrNotFound from a coordinator that answers.
func callAsProcess(ctx context.Context, cfg config.Config, do func(context.Context, *client.Client) error) error {
	line, err := locate.JoinLine(cfg)
	if err != nil {
		return err
	}
	certificate, err := certificateBelow(cfg.Data, cfg.Mode)
	if err != nil {
		return err
	}
	if line == nil && certificate == nil {
		return locate.Call(ctx, cfg, do)
	}
	cas := identity.IssuersOf(certificate, clock.Now())
	var addresses []string
	if line != nil {
		cas, addresses = append(cas, line.CAs(clock.Now())...), line.Addresses
	} else {
		addresses = locate.ChooseGates(ctx, cfg)
	}
	api, err := join.ClientOf(certificate, cas, addresses)
	if err != nil {
		return err
	}
	defer api.Close()
	if err = api.Alive(ctx); err == nil { // fails at once, unlike other calls, which retry
		return do(ctx, api)
	}
	if certificate == nil && errors.Is(err, fault.ErrUnauthenticated) {
		return fmt.Errorf("no %s with a folder in %s has joined the coordinator: %w: %w", cfg.Mode, cfg.Data, fault.ErrNotFound, err)
	}
	return err
}

// certificateBelow returns the certificate of a process of a mode that has a folder below dir; nil if none has joined.
// Of several it is the one that ends last.
func certificateBelow(dir, mode string) (found *tls.Certificate, err error) {
	files, err := platform.Glob(dir, mode+"-*/"+identity.CertificateFile)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		c, err := identity.LoadProcess(filepath.Dir(file))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		if found == nil || found.Leaf.NotAfter.Before(c.Leaf.NotAfter) {
			found = c
		}
	}
	return found, nil
}

// sessionsBelow returns the sessions that the processes of a mode wrote to their folders below dir, also those of
// processes that have ended; none if there are no such folders.
func sessionsBelow(dir, mode string) (sessions []string, err error) {
	files, err := platform.Glob(dir, mode+"-*/"+sessionFile)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, strings.TrimSpace(string(data)))
	}
	return sessions, nil
}
