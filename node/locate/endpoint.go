// Package locate finds the coordinator of a command, a manager or a worker: from the settings, from the
// handshake of a gate, or from the address file in the data folder. It opens no folder and starts nothing.
package locate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"leasehold/shared/api/client"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/datadir"
)

// Endpoint is where a coordinator may be.
type Endpoint struct {
	API   string // URL, or several of a realm, separated by commas (client.New); empty: no coordinator is known
	Named bool   // by the user for this command; else the coordinator may have ended
	set   bool   // by the setting http, and not by the address file
	file  string // the path of the address file
	// standsBy tells that the coordinator of the address file answered last that it stands by.
	standsBy bool
	// Options are how to prove who the user is, and to recognise the coordinator.
	Options client.Options
}

// Find finds the coordinator of a command: the API at http, if given as the flag --http or together with host;
// else the API that the gate at host reports; else the API at http, if given in the environment or the file of
// settings and something listens there; else the API that the address file in the data folder names.
//
// Without an address file the endpoint has no API, and the error is nil. A coordinator that authenticates is one whose
// address file names its CA, or for which the user gives a token or a CA: then the API is at the port of its gate too.
func Find(ctx context.Context, cfg config.Config) (Endpoint, error) {
	doc, docErr := datadir.ReadAddresses(cfg.Data)
	e, err := find(ctx, cfg, doc, docErr)
	if err != nil || e.API == "" {
		return e, err
	}
	return e, e.secure(cfg, doc)
}

// apisAt returns the URLs of the APIs at the ports of gates.
func apisAt(gates []string) string {
	var urls []string
	for _, gate := range gates {
		urls = append(urls, apiURL(gate, gate))
	}
	return strings.Join(urls, ",")
}

func find(ctx context.Context, cfg config.Config, doc datadir.Addresses, docErr error) (Endpoint, error) {
	e := Endpoint{file: filepath.Join(cfg.Data, datadir.AddressFile)}
	hostSet, httpSet := isSet(cfg, "host"), isSet(cfg, "http")
	var err error
	switch {
	case sourceOf(cfg, "http") == "--http", hostSet && httpSet:
		e.API, e.Named = apiURL(cfg.Hosts[0], cfg.HTTP), true
	case hostSet && authenticates(cfg):
		e.API, e.Named = apisAt(cfg.Hosts), true
	case hostSet:
		e.Named = true
		e.API, err = askGate(ctx, cfg.Hosts)
	default:
		if err = docErr; err == nil && doc.HTTP != "" {
			e.API, e.standsBy = apiURL(doc.HTTP, doc.HTTP), doc.Standby
		}
		api := apiURL(cfg.Hosts[0], cfg.HTTP)
		if httpSet && !strings.HasSuffix(api, ":0") && (e.API == "" || listens(ctx, api)) {
			e.API, e.set, err = api, true, nil
		}
	}
	return e, err
}

// FindDefault is Find for a command that needs a coordinator: if nothing names one that listens, and the flag
// --data names no folder, it is the one whose gate is at the default host.
func FindDefault(ctx context.Context, cfg config.Config) (Endpoint, error) {
	e, err := Find(ctx, cfg)
	if err != nil || e.Named || sourceOf(cfg, "data") == "--data" || e.API != "" && listens(ctx, e.API) {
		return e, err
	}
	if authenticates(cfg) {
		return e, nil
	}
	if api, absent := askGate(ctx, cfg.Hosts); absent == nil {
		e.API, e.Named = api, true
	}
	return e, nil
}

// listens reports whether something accepts connections at the address of a URL.
func listens(ctx context.Context, api string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	address := strings.TrimPrefix(strings.TrimPrefix(api, "http://"), "https://")
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = conn.Close() // it was only a probe
	return true
}

// probeTimeout bounds the attempt to reach a gate of this machine.
const probeTimeout = time.Second

// ChooseGates returns the addresses of the gates that a manager or a worker joins: host if it is
// set, else the gate that the address file in the data folder names, else the default of host.
// A file whose gate accepts no connection is not used, because it may be of a coordinator that
// has crashed.
func ChooseGates(ctx context.Context, cfg config.Config) []string {
	doc, err := datadir.ReadAddresses(cfg.Data)
	if isSet(cfg, "host") || err != nil || doc.Gate == "" {
		return cfg.Hosts
	}
	if !listens(ctx, doc.Gate) {
		return cfg.Hosts
	}
	return []string{doc.Gate}
}

// StandsBy reports whether the coordinator of the data folder stands by for another one, and accepts connections.
func StandsBy(ctx context.Context, cfg config.Config) bool {
	doc, err := datadir.ReadAddresses(cfg.Data)
	return err == nil && doc.Standby && listens(ctx, doc.HTTP)
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

// Explain adds a hint to a fault.ErrUnavailable if the address came from the address file, because the file may
// be stale.
func (e Endpoint) Explain(err error) error {
	if err == nil || e.Named || e.set || e.standsBy || !errors.Is(err, fault.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w; the address is from %s, which is stale if that coordinator has ended", err, e.file)
}

// Call calls do with a client of the running coordinator that cfg names, which
// is closed after that, and returns its error. It returns fault.ErrUnavailable if there
// is no coordinator.
func Call(ctx context.Context, cfg config.Config, do func(context.Context, *client.Client) error) error {
	e, err := FindDefault(ctx, cfg)
	if err != nil {
		return err
	}
	if e.API == "" {
		return fmt.Errorf("no coordinator: %w: --host is not set, and %s does not exist; start a coordinator, or name one with --host, or its folder with --data",
			fault.ErrUnavailable, e.file)
	}
	client, err := client.NewWith(e.API, e.Options)
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
