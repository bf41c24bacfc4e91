package config

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// The default ports. Two are the same: nothing listens at the control endpoints unless a
// setting names them.
const (
	GatePort    = 7411 // the native gate
	HTTPPort    = 7412 // the API and the dashboard
	compatPort  = 7413 // the control endpoints of the original indexer
	PagePort    = 7413 // the page of leasehold tup4fun serve
	metricsPort = 7414 // the metrics of managers and workers
)

// address is the value of a setting for a host with an optional port.
type address struct {
	to   *string // always with a port once it was set
	port int     // the default
}

// set reads a host, an address or [IPv6], with or without a port; without one it gets the port of the setting.
func (a address) set(text string) error {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = strings.Trim(text, "[]"), strconv.Itoa(a.port)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return errNotAccepted
	}
	if _, err := netip.ParseAddr(host); err != nil && !hostForm.MatchString(host) {
		return errNotAccepted
	}
	*a.to = net.JoinHostPort(host, port)
	return nil
}
func (a address) accepts() string {
	return "a host name or an address, with or without a port, such as coordinator:" + strconv.Itoa(a.port)
}
func (a address) kind() string   { return "host[:port]" }
func (a address) String() string { return *a.to }

// maxHosts bounds how many coordinators a client may be given.
const maxHosts = 16

// addresses are those of the members of a realm, separated by commas; each is read as an address.
type addresses struct {
	to   *[]string
	port int // the default
}

func (a addresses) set(text string) error {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		var one string
		if err := (address{&one, a.port}).set(strings.TrimSpace(item)); err != nil {
			return err
		}
		list = append(list, one)
	}
	if len(list) > maxHosts {
		return errNotAccepted
	}
	*a.to = list
	return nil
}

func (a addresses) accepts() string {
	return fmt.Sprintf("a host name or an address, with or without a port, such as coordinator:%d, or up to %d of them, separated by commas", a.port, maxHosts)
}
func (a addresses) kind() string   { return "host[:port]" }
func (a addresses) String() string { return strings.Join(*a.to, ",") }

// IsLoopback reports whether only this machine can reach a listener at hostport. It
// returns false if hostport is not valid.
func IsLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
