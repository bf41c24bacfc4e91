package config

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// The ports of a coordinator.
const (
	GatePort = 7411 // the native gate
	HTTPPort = 7412 // the API and the page
)

// address is a host with a port, which may be left out.
type address struct {
	to   *string
	port int // where none is said
}

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
	return "a host or an address, perhaps with a port, such as coordinator:" + strconv.Itoa(a.port)
}
func (a address) kind() string   { return "host[:port]" }
func (a address) String() string { return *a.to }

// IsLoopback reports whether only this machine can reach what listens at an
// address.
func IsLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// truth is yes or no.
type truth struct{ to *bool }

func (t truth) set(text string) error {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return errNotAccepted
	}
	*t.to = v
	return nil
}
func (t truth) accepts() string { return "true or false" }
func (t truth) kind() string    { return "" }
func (t truth) String() string  { return strconv.FormatBool(*t.to) }

// words is a list of some of a few words.
type words struct {
	to    *[]string
	known []string
}

func (w words) set(text string) error {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if err := (word{&item, w.known}).set(item); err != nil {
			return errNotAccepted
		}
		list = append(list, item)
	}
	*w.to = list
	return nil
}
func (w words) accepts() string { return "a list of " + orList(w.known) }
func (w words) kind() string    { return "list" }
func (w words) String() string  { return strings.Join(*w.to, ",") }
