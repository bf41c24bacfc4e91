package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"

	"leasehold/coordinator/api"
	"leasehold/coordinator/authority"
	"leasehold/node/locate"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/clock"
)

// WithInvites calls do with a function that makes invites: at the running coordinator that cfg names or, if there is
// none, in the data folder, whose identity is made if it has none.
func WithInvites(ctx context.Context, cfg config.Config, log *slog.Logger, do func(create func(context.Context, types.NewInvite) (types.Invite, error)) error) error {
	e, err := locate.Find(ctx, cfg)
	if err == nil && e.API != "" {
		err = locate.Call(ctx, cfg, func(ctx context.Context, c *client.Client) error { return do(c.CreateInvite) })
		if !errors.Is(err, fault.ErrUnavailable) || e.Named {
			return err
		}
	}
	if err != nil && e.Named {
		return err
	}
	cfg.Auth, cfg.Insecure = true, false
	answer := err // of a coordinator that may have ended meanwhile
	d, err := OpenDataDir(ctx, cfg, log)
	if answer != nil && errors.Is(err, fault.ErrConflict) {
		return answer // its coordinator runs, and does not authenticate its clients
	}
	if err != nil {
		return err
	}
	a, err := d.openAuth()
	if err == nil {
		err = do(func(ctx context.Context, n types.NewInvite) (types.Invite, error) {
			return api.CreateInvite(ctx, a, n, offlineAddresses(cfg))
		})
	}
	return errors.Join(err, d.Close())
}

// offlineAddresses returns the addresses in join lines of a coordinator that does not run: the configured one if other
// machines reach it, and those of this machine if not, at the same port.
func offlineAddresses(cfg config.Config) []string {
	address, err := net.ResolveTCPAddr("tcp", cfg.Listen)
	if err != nil {
		return []string{cfg.Listen}
	}
	if address.IP.IsLoopback() {
		address.IP = net.IPv4zero // it listens elsewhere when it is started for processes that join
	}
	return joinAddresses(address)
}

// ShowIdentity returns the fingerprint and the CA certificate (PEM) of the coordinator with the data folder of cfg. It
// fails with fault.ErrNotFound if that has no identity.
func ShowIdentity(cfg config.Config) (fingerprint string, certificate []byte, err error) {
	ca, err := authority.Open(filepath.Join(cfg.Data, identityDir), clock.Now)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s has no identity: %w: a coordinator that authenticates makes one at its start, and leasehold invite does", cfg.Data, fault.ErrNotFound)
	}
	if err != nil {
		return "", nil, err
	}
	return ca.Fingerprint().String(), ca.CertificatePEM(), nil
}
