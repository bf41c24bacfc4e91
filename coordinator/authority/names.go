package authority

import (
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
)

var nameForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)

// MachineNames returns the host name of this machine and the addresses of its network interfaces, for the certificate
// for people. It leaves out link-local addresses, because they are not typed. If the system does not list them, there are none.
func MachineNames() []string {
	var names []string
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && !prefix.Addr().IsLinkLocalUnicast() {
			names = append(names, prefix.Addr().String())
		}
	}
	return names
}

// withLocalhost returns the names for this machine and the valid ones of names, sorted and each once.
func withLocalhost(names []string) []string {
	all := []string{"localhost", "127.0.0.1", "::1"}
	for _, name := range names {
		if addr, err := netip.ParseAddr(name); err == nil {
			all = append(all, addr.Unmap().WithZone("").String())
		} else if nameForm.MatchString(name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
