package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"leasehold/coordinator/api"
	"leasehold/coordinator/auth"
	"leasehold/coordinator/authority"
	"leasehold/models"
	"leasehold/node/locate"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/clock"
	"leasehold/shared/process/datadir"
)

// WithInvites calls do with a function that makes invites: at the running coordinator that cfg names or, if there is
// none, in the data folder, whose identity is made if it has none.
func WithInvites(ctx context.Context, cfg config.Config, log *slog.Logger, do func(create func(context.Context, types.NewInvite) (types.Invite, error)) error) error {
	return withAuth(ctx, cfg, log, true, func(ctx context.Context, c *client.Client) error { return do(c.CreateInvite) }, func(a *auth.Auth) error {
		return do(func(ctx context.Context, n types.NewInvite) (types.Invite, error) {
			return api.CreateInvite(ctx, a, n, offlineAddresses(cfg))
		})
	})
}

// RotateIdentity makes a new CA, and accepts that of today until a time: at the running coordinator that cfg names or, if
// there is none, in the data folder.
func RotateIdentity(ctx context.Context, cfg config.Config, log *slog.Logger, until time.Time) (i types.Identity, err error) {
	running := func(ctx context.Context, c *client.Client) error {
		i, err = c.RotateIdentity(ctx, types.NewIdentity{Until: until})
		return err
	}
	return i, withAuth(ctx, cfg, log, false, running, func(a *auth.Auth) error {
		err := a.Rotate(ctx, until)
		i = api.ShowIdentity(a.Authority)
		return err
	})
}

// withAuth calls running with a client of the running coordinator that cfg names or, if there is none, inFolder with what
// authenticates the clients of the data folder. With makes, an identity is made if the folder has none.
func withAuth(ctx context.Context, cfg config.Config, log *slog.Logger, makes bool, running func(context.Context, *client.Client) error, inFolder func(*auth.Auth) error) error {
	e, err := locate.Find(ctx, cfg)
	if err == nil && e.API != "" {
		err = locate.Call(ctx, cfg, running)
		if !errors.Is(err, fault.ErrUnavailable) || e.Named {
			return err
		}
	}
	if err != nil && e.Named {
		return err
	}
	cfg.Auth, cfg.Insecure = true, false
	answer := err // of a coordinator that may have ended meanwhile
	if _, err := ShowIdentity(cfg); err != nil && !makes {
		return cmp.Or(answer, err)
	}
	d, err := OpenDataDir(ctx, cfg, log)
	if answer != nil && errors.Is(err, fault.ErrConflict) {
		return answer // its coordinator runs, and cannot be reached
	}
	if err != nil {
		return err
	}
	a, err := d.openAuth(ctx)
	if err == nil {
		err = inFolder(a)
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

// ShowIdentity returns the identity of the coordinator with the data folder of cfg. It fails with fault.ErrNotFound if
// that has none.
func ShowIdentity(cfg config.Config) (types.Identity, error) {
	ca, err := authority.Open(filepath.Join(cfg.Data, identityDir), clock.Now)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s has no identity: %w: a coordinator that authenticates makes one at its start, and leasehold invite does", cfg.Data, fault.ErrNotFound)
	}
	if err != nil {
		return types.Identity{}, err
	}
	return api.ShowIdentity(ca), nil
}

// Attention returns what needs attention at the coordinator that runs on the data folder of cfg; nothing if none runs.
func Attention(ctx context.Context, cfg config.Config) (items []models.Attention, err error) {
	at, err := datadir.ReadAddresses(cfg.Data)
	if err != nil || at.HTTP == "" {
		return nil, nil // other checks are about the folder
	}
	err = locate.Call(ctx, cfg, func(ctx context.Context, c *client.Client) error {
		report, err := c.Attention(ctx)
		items = report.Items
		return err
	})
	if errors.Is(err, fault.ErrUnavailable) {
		return nil, nil // the file is from before a crash
	}
	return items, err
}
