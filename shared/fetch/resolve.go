package fetch

import (
	"context"
	"fmt"
	"net/netip"

	"leasehold/shared/fault"
)

// Resolve returns an address of a URL's host that may be dialled, for programs that connect by themselves. They
// must connect to this address, because a later resolution may give another one. It fails with fault.ErrInvalid
// if no address may be dialled, and with fault.ErrUnavailable if the name has none or cannot be resolved.
func (f *Fetcher) Resolve(ctx context.Context, uri string) (netip.Addr, error) {
	u, err := f.parse(uri)
	if err != nil {
		return netip.Addr{}, err
	}
	host := normal(u.Hostname())
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip, nil // parse has checked it
	}
	found, err := f.guard.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("resolve %s: %w: %w", host, fault.ErrUnavailable, err)
	}
	err = fmt.Errorf("resolve %s: no address: %w", host, fault.ErrUnavailable)
	for _, ip := range found {
		if err = f.guard.checkIP(hostPort(u), ip); err == nil {
			return ip.Unmap(), nil
		}
	}
	return netip.Addr{}, err
}
