package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"time"

	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/wire"
)

// askGateIn is how long a command tries to hear from a gate.
const askGateIn = 5 * time.Second

// askGate is the URL of the API of the coordinator whose gate is at host:port, as
// the gate's handshake says. Nobody there is fault.ErrUnavailable at once.
func askGate(ctx context.Context, gate string) (api string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askGateIn)
	defer cancel()
	var refused error
	c, err := remote.Dial(ctx, remote.Config{
		Address: gate, Session: remote.SessionID("client"), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			if err != nil {
				refused = err
				cancel() // once is enough for somebody who waits
			}
			return c, err
		},
	})
	switch {
	case refused != nil:
		return "", fmt.Errorf("the coordinator at %s is %w: %w", gate, fault.ErrUnavailable, refused)
	case errors.Is(err, wire.ErrForeign), errors.Is(err, context.DeadlineExceeded):
		return "", fmt.Errorf("%s is no gate of a coordinator (its port is %d, unless --listen says another): %w: %w", gate, config.GatePort, fault.ErrUnavailable, err)
	case err != nil:
		return "", fmt.Errorf("the coordinator at %s is %w: %w", gate, fault.ErrUnavailable, err)
	}
	said := c.Welcome().HTTP
	if err := space.Over(c).Close(ctx); err != nil {
		return "", fmt.Errorf("the coordinator at %s is %w: %w", gate, fault.ErrUnavailable, err)
	}
	if _, _, err := net.SplitHostPort(said); err != nil {
		return "", fmt.Errorf("the coordinator at %s says no address of its API (%q): %w", gate, said, fault.ErrUnavailable)
	}
	return announced(gate, said), nil
}

// announced is the URL of the API of the coordinator whose gate is at host:port and
// said that it listens at http. Of one that is elsewhere and listens at its own
// loopback, behind a published port, only the port is of use.
func announced(gate, http string) string {
	if config.IsLoopback(http) && !config.IsLoopback(gate) {
		_, port, _ := net.SplitHostPort(http) // it has one
		http = ":" + port
	}
	return apiOf(gate, http)
}

// apiOf is the URL of the API at http. One that listens at every address is reached
// at the host of its gate.
func apiOf(gate, http string) string {
	host, port, err := net.SplitHostPort(http)
	if err != nil {
		port = strconv.Itoa(config.HTTPPort)
	}
	if everywhere(host) {
		if host, _, err = net.SplitHostPort(gate); err != nil {
			host = gate
		}
	}
	if everywhere(host) {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// everywhere reports whether who listens at host does so at every address.
func everywhere(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}
