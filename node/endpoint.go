package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"leasehold/shared/api/client"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// endpoint is where a coordinator may be.
type endpoint struct {
	api   string // URL; empty: no coordinator is known
	named bool   // by the user for this command; else the coordinator may have ended
	set   bool   // by the setting http, and not by the address file
	file  string // the path of the address file
}

// locate finds the coordinator of a command: the API at http, if given as the flag --http or together with host;
// else the API that the gate at host reports; else the API at http, if given in the environment or the file of
// settings and something listens there; else the API that the address file in the data folder names.
//
// Without an address file the endpoint has no api, and the error is nil.
func locate(ctx context.Context, cfg config.Config) (endpoint, error) {
	e := endpoint{file: filepath.Join(cfg.Data, AddressFile)}
	hostSet, httpSet := isSet(cfg, "host"), isSet(cfg, "http")
	var err error
	switch {
	case sourceOf(cfg, "http") == "--http", hostSet && httpSet:
		e.api, e.named = apiURL(cfg.Host, cfg.HTTP), true
	case hostSet:
		e.named = true
		e.api, err = askGate(ctx, cfg.Host)
	default:
		e.api, err = readAPI(e.file)
		api := apiURL(cfg.Host, cfg.HTTP)
		if httpSet && !strings.HasSuffix(api, ":0") && (e.api == "" || listens(ctx, api)) {
			e.api, e.set, err = api, true, nil
		}
	}
	return e, err
}

// locateDefault is locate for a command that needs a coordinator: if nothing names one that listens, and the flag
// --data names no folder, it is the one whose gate is at the default host.
func locateDefault(ctx context.Context, cfg config.Config) (endpoint, error) {
	e, err := locate(ctx, cfg)
	if err != nil || e.named || sourceOf(cfg, "data") == "--data" || e.api != "" && listens(ctx, e.api) {
		return e, err
	}
	if api, absent := askGate(ctx, cfg.Host); absent == nil {
		e.api, e.named = api, true
	}
	return e, nil
}

// listens reports whether something accepts connections at the address of a URL.
func listens(ctx context.Context, api string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(api, "http://"))
	if err != nil {
		return false
	}
	_ = conn.Close() // it was only a probe
	return true
}

// readAPI returns the URL of the API in an address file; empty if the file does not exist or has none.
func readAPI(path string) (api string, err error) {
	doc, err := readAddressFile(path)
	if err != nil || doc.HTTP == "" {
		return "", err
	}
	return apiURL(doc.HTTP, doc.HTTP), nil
}

// readAddressFile returns the content of an address file; no addresses if it does not exist.
func readAddressFile(path string) (doc Addresses, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Addresses{}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	if err != nil {
		return Addresses{}, fmt.Errorf("%s: %w: %w", path, fault.ErrUnavailable, err)
	}
	return doc, nil
}

// probeTimeout bounds the attempt to reach a gate of this machine.
const probeTimeout = time.Second

// chooseGate returns the address of the gate that a manager or a worker joins: host if it is
// set, else the gate that the address file in the data folder names, else the default of host.
// A file whose gate accepts no connection is not used, because it may be of a coordinator that
// has crashed.
func chooseGate(ctx context.Context, cfg config.Config) string {
	doc, err := readAddressFile(filepath.Join(cfg.Data, AddressFile))
	if isSet(cfg, "host") || err != nil || doc.Gate == "" {
		return cfg.Host
	}
	if !listens(ctx, doc.Gate) {
		return cfg.Host
	}
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
func (e endpoint) explain(err error) error {
	if err == nil || e.named || e.set || !errors.Is(err, fault.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w; the address is from %s, which is stale if that coordinator has ended", err, e.file)
}

// CallCoordinator calls do with a client of the running coordinator that cfg names, which
// is closed after that, and returns its error. It returns fault.ErrUnavailable if there
// is no coordinator.
func CallCoordinator(ctx context.Context, cfg config.Config, do func(context.Context, *client.Client) error) error {
	e, err := locateDefault(ctx, cfg)
	if err != nil {
		return err
	}
	if e.api == "" {
		return fmt.Errorf("no coordinator: %w: --host is not set, and %s does not exist; start a coordinator, or name one with --host, or its folder with --data",
			fault.ErrUnavailable, e.file)
	}
	client, err := client.New(e.api)
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
	return e.explain(err)
}
