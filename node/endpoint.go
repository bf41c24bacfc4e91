package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"leasehold/shared/apiclient"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// endpoint is where a coordinator may be.
type endpoint struct {
	api   string // URL; empty: no coordinator is known
	named bool   // by the user, and not by the address file, which may be stale
	file  string // the path of the address file
}

// locate finds the coordinator of a command: the API at http, if that is given as the flag
// --http or together with host; else the API that the gate at host reports; else the API that
// the address file in the data folder names. An http without a host in the environment or the
// file of settings is not used: it is where a coordinator of this machine listens.
//
// Without an address file the endpoint has no api, and the error is nil. The error is
// fault.ErrUnavailable if the gate does not answer or the file cannot be read; named and file
// are set also then.
func locate(ctx context.Context, cfg config.Config) (endpoint, error) {
	source := map[string]string{}
	for _, v := range cfg.Values() {
		source[v.Key] = v.Source
	}
	const byDefault = "default"
	e := endpoint{file: filepath.Join(cfg.Data, AddressFile)}
	hostSet, httpSet := source["host"] != byDefault, source["http"] != byDefault
	var err error
	switch {
	case source["http"] == "--http", hostSet && httpSet:
		e.api, e.named = apiURL(cfg.Host, cfg.HTTP), true
	case hostSet:
		e.named = true
		e.api, err = askGate(ctx, cfg.Host)
	default:
		e.api, err = readAddressFile(e.file)
	}
	return e, err
}

// readAddressFile returns the URL of the API in an address file; empty if the file does
// not exist or has none.
func readAddressFile(path string) (api string, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var doc Addresses
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w: %w", path, fault.ErrUnavailable, err)
	case doc.HTTP == "":
		return "", nil
	}
	return apiURL(doc.HTTP, doc.HTTP), nil
}

// explain returns err. If err is fault.ErrUnavailable and the address came from the address file,
// it adds that the file may be stale.
func (e endpoint) explain(err error) error {
	if err == nil || e.named || !errors.Is(err, fault.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w; the address is from %s, which is stale if that coordinator has ended", err, e.file)
}

// CallCoordinator calls do with a client of the running coordinator that cfg names, which
// is closed after that, and returns its error. It returns fault.ErrUnavailable if there
// is no coordinator.
func CallCoordinator(ctx context.Context, cfg config.Config, do func(context.Context, *apiclient.Client) error) error {
	e, err := locate(ctx, cfg)
	if err != nil {
		return err
	}
	if e.api == "" {
		return fmt.Errorf("no coordinator: %w: --host is not set, and %s does not exist; start a coordinator, or name one with --host",
			fault.ErrUnavailable, e.file)
	}
	client, err := apiclient.New(e.api)
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
