package fetch

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"leasehold/shared/fault"
)

// private are the networks without public hosts: RFC 6890 and its successors, and the only
// cloud metadata service that has a public address.
var private = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
	"172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"168.63.129.16/32", // metadata service of Azure
	"::/96",            // unspecified, loopback, IPv4-compatible
	"64:ff9b:1::/48",   // local NAT64
	"100::/64",         // discard
	"2001::/23",        // Teredo, ORCHID and other special purposes
	"2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16",
	"fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

// nat64 addresses embed the IPv4 address that a translator dials.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// prefixes parses constant prefixes; a wrong one panics at the start of the program.
func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// plain returns the address that a connection reaches in effect: without a zone, the mapping of IPv4 into IPv6,
// and the prefix of a translator.
func plain(ip netip.Addr) netip.Addr {
	ip = ip.WithZone("").Unmap()
	if nat64.Contains(ip) {
		b := ip.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return ip
}

func isPrivate(ip netip.Addr) bool {
	ip = plain(ip)
	return !ip.IsValid() || slices.ContainsFunc(private, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// checkSpelling refuses hosts, with fault.ErrInvalid, that some resolvers interpret as an address
// although netip does not, such as 2130706433, 0x7f.1 and 127.1, and an empty host.
func checkSpelling(host string) error {
	if host == "" {
		return fmt.Errorf("the URL has no host: %w", fault.ErrInvalid)
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return fmt.Errorf("host %q: want a name or a complete IP address: %w", host, fault.ErrInvalid)
	}
	return nil
}
