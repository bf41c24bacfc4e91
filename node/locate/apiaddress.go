package locate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/members"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/wire"
)

// gateTimeout is how long a command waits for the handshake of a gate, and realmTimeout for that of the one of several
// that serves: a member takes over from one that is silent after --owner-lost (5 s).
const (
	gateTimeout  = 5 * time.Second
	realmTimeout = 15 * time.Second
)

// askGate returns the URL of the API of the coordinator that serves at one of gates, each a host:port, as the
// gate's handshake reports it, with those of the others (withOthers). It returns fault.ErrUnavailable at once if all connections
// are refused, and later if no gate answers; fault.ErrUnauthenticated from a gate that authenticates.
func askGate(ctx context.Context, gates []string) (api string, err error) {
	timeout := gateTimeout
	if len(gates) > 1 {
		timeout = realmTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	refused := map[string]error{} // connections, which remote.Dial would retry
	list := members.New(gates...)
	c, err := remote.Dial(ctx, remote.Config{
		Members: list, Session: remote.SessionID("client"), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			if err != nil {
				refused[address] = err
				if len(refused) == len(gates) {
					cancel() // no retry, because the user waits
				}
			}
			return c, err
		},
	})
	gate := list.First()
	if err != nil {
		gate = strings.Join(gates, " or ")
	}
	switch {
	case len(refused) == len(gates):
		return "", fmt.Errorf("the coordinator at %s is %w: %w", gate, fault.ErrUnavailable, refused[gates[0]])
	case len(gates) > 1 && errors.Is(err, context.DeadlineExceeded):
		return "", fmt.Errorf("none of the coordinators at %s serves: %w: %w", gate, fault.ErrUnavailable, err)
	case errors.Is(err, wire.ErrForeign), errors.Is(err, context.DeadlineExceeded):
		return "", fmt.Errorf("%s is not a coordinator's gate (its port is %d unless --listen sets another): %w: %w", gate, config.GatePort, fault.ErrUnavailable, err)
	case errors.Is(err, fault.ErrUnauthenticated):
		return "", fmt.Errorf("the coordinator at %s authenticates its clients: %w: set --token (leasehold token create) and --ca (leasehold identity show)", gate, fault.ErrUnauthenticated)
	case err != nil:
		return "", fmt.Errorf("the coordinator at %s is %w: %w", gate, fault.ErrUnavailable, err)
	}
	reported := c.Welcome().HTTP
	if err := space.Over(c).Close(ctx); err != nil {
		return "", fmt.Errorf("the coordinator at %s is %w: %w", gate, fault.ErrUnavailable, err)
	}
	if _, _, err := net.SplitHostPort(reported); err != nil {
		return "", fmt.Errorf("the coordinator at %s did not report its API address (%q): %w", gate, reported, fault.ErrUnavailable)
	}
	return withOthers(ReachableAPI(gate, reported), gates), nil
}

// withOthers adds to the URL of the API that serves those of the other gates' machines, at the same port: one of them
// may take over.
func withOthers(api string, gates []string) string {
	urls := []string{api}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(api, "http://")) // apiURL has joined them
	for _, gate := range gates {
		if url := apiURL(gate, ":"+port); !slices.Contains(urls, url) {
			urls = append(urls, url)
		}
	}
	return strings.Join(urls, ",")
}

// ReachableAPI returns the URL of the API of a coordinator. gate is the host:port at which its
// gate was reached, and http the address at which it reported that its API listens. If that is a
// loopback address and the gate's is not, the API is on another machine or in a container: then
// the host of the gate and the port of the API are used, because the operator must have published
// that port there.
func ReachableAPI(gate, http string) string {
	if config.IsLoopback(http) && !config.IsLoopback(gate) {
		_, port, _ := net.SplitHostPort(http) // the caller has checked that http has a port
		http = ":" + port
	}
	return apiURL(gate, http)
}

// apiURL returns the URL of the API at http, a host:port; without a port it is config.HTTPPort. An API that
// listens on every address is reached at the host of gate or, if that listens everywhere too, at localhost.
func apiURL(gate, http string) string {
	host, port, err := net.SplitHostPort(http)
	if err != nil {
		port = strconv.Itoa(config.HTTPPort)
	}
	if isAnyAddress(host) {
		if host, _, err = net.SplitHostPort(gate); err != nil {
			host = gate
		}
	}
	if isAnyAddress(host) {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// isAnyAddress reports whether a listener at host accepts connections to every address of
// its machine.
func isAnyAddress(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}
