package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leasehold/coordinator/admission"
	"leasehold/coordinator/auth"
	"leasehold/coordinator/authority"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
	"leasehold/shared/process/clock"
	"leasehold/shared/process/datadir"
)

// identityDir is the folder of a coordinator's CA and admin token in its data folder, and acceptIdentity the value of
// accept-missing that has another one made.
const (
	identityDir    = "identity"
	acceptIdentity = "identity"
)

// openAuth opens what authenticates the clients of a coordinator; nil if none are authenticated. It makes the identity
// at the first start.
func (d *DataDir) openAuth(ctx context.Context) (*auth.Auth, error) {
	if !d.cfg.Authenticates() {
		return nil, nil
	}
	ca, err := d.openAuthority(ctx)
	if err != nil {
		return nil, err
	}
	secret, err := adminToken(d.tokenFile())
	if err != nil {
		return nil, err
	}
	d.database.Admission.SetAdmin(secret)
	d.auth = auth.New(auth.Config{Authority: ca, Store: d.database.Admission, Log: d.log, Now: clock.Now, Keep: d.keepIdentity})
	return d.auth, nil
}

// openAuthority opens the CA, or makes one. If processes have joined the one that is missing, they could not come back,
// so that is accepted only with acceptIdentity.
func (d *DataDir) openAuthority(ctx context.Context) (*authority.Authority, error) {
	dir := filepath.Join(d.cfg.Data, identityDir)
	ca, err := authority.Open(dir, clock.Now)
	if err == nil {
		if err := d.recognise(ctx, ca); err != nil {
			return nil, err
		}
		return ca, ca.Tidy()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if joined := len(d.database.Admission.Peers(true)); joined > 0 && d.cfg.AcceptMissing != acceptIdentity {
		return nil, fmt.Errorf("%s is missing, and %d processes have joined with it: %w: restore it from a backup, or start with --accept-missing %s, which makes another identity: then every process needs another join line",
			dir, joined, fault.ErrFolder, acceptIdentity)
	}
	if ca, err = authority.Create(dir, clock.Now); err != nil {
		return nil, err
	}
	if err := d.database.Admission.SetCAs(ctx, ca.Fingerprint().String()); err != nil {
		return nil, err
	}
	d.log.Warn("this coordinator has an identity now, and authenticates its clients", "fingerprint", ca.Fingerprint(), "admin token", d.tokenFile(), "join line of a worker", "leasehold invite worker --data "+d.cfg.Data)
	return ca, nil
}

// recognise fails if the CA is of another data folder, unless that is accepted with acceptIdentity. A database from before
// it kept the CA takes this one, and so does one from a backup from before the latest change of the CA.
func (d *DataDir) recognise(ctx context.Context, ca *authority.Authority) error {
	own, err := d.database.Admission.CAs(ctx)
	if err != nil {
		return err
	}
	current, accepted := ca.Fingerprint().String(), []string{ca.Fingerprint().String()}
	if former, end := ca.Former(); !end.IsZero() {
		accepted = append(accepted, former.String())
	}
	isOwn := func(fingerprint string) bool { return slices.Contains(accepted, fingerprint) }
	switch {
	case len(own) == 0 || slices.ContainsFunc(own, isOwn):
	case d.cfg.AcceptMissing != acceptIdentity:
		return fmt.Errorf("%s has the CA %s, and the database %s is of the CA %s: %w: the folder is of another coordinator, or from before a change of the CA; restore it from a backup of this data folder, or start with --accept-missing %s, which keeps the CA in the folder: then processes that do not know it need another join line",
			filepath.Join(d.cfg.Data, identityDir), current, filepath.Join(d.cfg.Data, catalogFile), strings.Join(own, " or "), fault.ErrFolder, acceptIdentity)
	default:
		d.log.Warn("going on with the CA of another coordinator, as --accept-missing says", "fingerprint", current, "former", strings.Join(own, ","))
	}
	if slices.Equal(own, []string{current}) {
		return nil
	}
	return d.database.Admission.SetCAs(ctx, current)
}

// followIdentity has the address file tell the CA that is current.
func (l *listeners) followIdentity(h *hosted, addresses datadir.Addresses) {
	if l.auth == nil {
		return
	}
	l.auth.OnRotate(func() {
		addresses.CA = l.auth.Authority.Fingerprint().String()
		if err := datadir.WriteAddresses(h.cfg.Data, addresses); err != nil {
			h.log.Error("the commands on this machine do not learn the new CA; give them --ca", "error", err)
		}
	})
}

func (d *DataDir) tokenFile() string {
	return filepath.Join(d.cfg.Data, identityDir, datadir.TokenFile)
}

// adminToken reads the token of the coordinator's own user, or makes one.
func adminToken(file string) (string, error) {
	data, err := identity.ReadPrivate(file)
	if err == nil {
		return strings.TrimSpace(string(data)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	secret := admission.NewAdminSecret()
	return secret, identity.WritePrivate(file, []byte(secret+"\n"))
}

// joinAddresses returns the addresses for join lines: those of the setting members, or those of the own gate and then
// those of the other members of the realm, which may serve later.
func (d *DataDir) joinAddresses(ctx context.Context, own net.Addr) ([]string, error) {
	if len(d.cfg.Members) > 0 {
		return d.cfg.Members, nil
	}
	addresses := joinAddresses(own)
	if d.members == nil {
		return addresses, nil
	}
	all, err := d.members(ctx)
	for _, m := range all {
		for _, gate := range m.Gates {
			if !slices.Contains(addresses, gate) {
				addresses = append(addresses, gate)
			}
		}
	}
	return addresses, err
}

// joinAddresses returns the addresses of a gate for join lines: that at which it listens, or if that is every address of
// the machine, the machine's names and addresses.
func joinAddresses(listens net.Addr) []string {
	host, port, err := net.SplitHostPort(listens.String())
	if err != nil {
		return nil
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		return []string{listens.String()}
	}
	var all []string
	for _, name := range withoutLoopback(authority.MachineNames()) {
		all = append(all, net.JoinHostPort(name, port))
	}
	return all
}

// withoutLoopback returns the names and addresses of a machine without those of loopback, at which other machines have other
// coordinators. A machine without a network keeps them.
func withoutLoopback(names []string) []string {
	isLoopback := func(name string) bool {
		ip := net.ParseIP(name)
		return ip != nil && ip.IsLoopback()
	}
	if !slices.ContainsFunc(names, func(name string) bool { return net.ParseIP(name) != nil && !isLoopback(name) }) {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), isLoopback)
}

// serverTLS returns the configuration of TLS of a coordinator's ports.
func serverTLS(cfg config.Config, ca *authority.Authority, log *slog.Logger) (*tls.Config, error) {
	own := ca.ServerConfig(peopleNames(cfg))
	brought, err := openCertificate(cfg, log)
	if err != nil || brought == nil {
		return own, err
	}
	return brought.over(own), nil
}

// peopleNames returns the names in the certificate for people.
func peopleNames(cfg config.Config) func() []string {
	names := append(authority.MachineNames(), cfg.HTTPNames...) // once, because listing them at each handshake is slow
	return func() []string { return names }
}

// copyIdentity copies the identity for a backup, if there is one.
func (d *DataDir) copyIdentity(dest string) error {
	dir := filepath.Join(d.cfg.Data, identityDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.Mkdir(dest, 0o700)
	}
	for _, e := range entries {
		if err != nil {
			return err
		}
		var data []byte
		if data, err = identity.ReadPrivate(filepath.Join(dir, e.Name())); err == nil {
			err = identity.WritePrivate(filepath.Join(dest, e.Name()), data)
		}
	}
	return err
}
