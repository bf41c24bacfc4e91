// Package locate finds the coordinator of a command, a manager or a worker: from the settings, from the
// handshake of a gate, or from the address file in the data folder. It opens no folder and starts nothing.
package locate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"leasehold/shared/api/client"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/datadir"
)

// Endpoint is where a coordinator may be.
type Endpoint struct {
	API   string // URL; empty: no coordinator is known
	Named bool   // by the user, and not by the address file, which may be stale
	file  string // the path of the address file
}

// Find finds the coordinator of a command: the API at http, if given as the flag --http or together with host;
// else the API that the gate at host reports; else the API that the address file in the data folder names. An
// http without a host in the environment or the file of settings is not used: it is where a coordinator of this
// machine listens.
//
// Without an address file the endpoint has no API, and the error is nil.
func Find(ctx context.Context, cfg config.Config) (Endpoint, error) {
	e := Endpoint{file: filepath.Join(cfg.Data, datadir.AddressFile)}
	hostSet, httpSet := isSet(cfg, "host"), isSet(cfg, "http")
	var err error
	switch {
	case sourceOf(cfg, "http") == "--http", hostSet && httpSet:
		e.API, e.Named = apiURL(cfg.Host, cfg.HTTP), true
	case hostSet:
		e.Named = true
		e.API, err = askGate(ctx, cfg.Host)
	default:
		var doc datadir.Addresses
		if doc, err = datadir.ReadAddresses(cfg.Data); err == nil && doc.HTTP != "" {
			e.API = apiURL(doc.HTTP, doc.HTTP)
		}
	}
	return e, err
}

// probeTimeout bounds the attempt to reach a gate of this machine.
const probeTimeout = time.Second

// ChooseGate returns the address of the gate that a manager or a worker joins: host if it is
// set, else the gate that the address file in the data folder names, else the default of host.
// A file whose gate accepts no connection is not used, because it may be of a coordinator that
// has crashed.
func ChooseGate(ctx context.Context, cfg config.Config) string {
	doc, err := datadir.ReadAddresses(cfg.Data)
	if isSet(cfg, "host") || err != nil || doc.Gate == "" {
		return cfg.Host
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", doc.Gate)
	if err != nil {
		return cfg.Host
	}
	_ = conn.Close() // it was only a probe
	return doc.Gate
}

// isSet reports whether a setting was given, and is not its default.
func isSet(cfg config.Config, key string) bool { return sourceOf(cfg, key) != "default" }

// sourceOf returns where a setting was given, as config.Value describes it.
func sourceOf(cfg config.Config, key string) string {
	for _, v := range cfg.Values() {
		if v.Key == key {
			return v.Source
		}
	}
	return ""
}

// explain adds a hint to a fault.ErrUnavailable if the address came from the address file, because the file may
// be stale.
func (e Endpoint) Explain(err error) error {
	if err == nil || e.Named || !errors.Is(err, fault.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w; the address is from %s, which is stale if that coordinator has ended", err, e.file)
}

// Call calls do with a client of the running coordinator that cfg names, which
// is closed after that, and returns its error. It returns fault.ErrUnavailable if there
// is no coordinator.
func Call(ctx context.Context, cfg config.Config, do func(context.Context, *client.Client) error) error {
	e, err := Find(ctx, cfg)
	if err != nil {
		return err
	}
	if e.API == "" {
		return fmt.Errorf("no coordinator: %w: --host is not set, and %s does not exist; start a coordinator, or name one with --host, or its folder with --data",
			fault.ErrUnavailable, e.file)
	}
	client, err := client.New(e.API)
	if err != nil {
		return err
	}
	defer client.Close()
	if err = client.Alive(ctx); err == nil { // fails at once, unlike other calls, which retry
		err = do(ctx, client)
	}
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return e.Explain(err)
}
