package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"leasehold/coordinator/authority"
	"leasehold/coordinator/realm"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
	"leasehold/shared/process/clock"
	"leasehold/shared/space/journal"
)

// openIdentity gets the CA of the realm, or proposes one if there is none, and opens it in the data folder. A coordinator
// that does not authenticate its clients is refused if the realm has a CA, because it would take over from one that does.
func (m *member) openIdentity(ctx context.Context) (err error) {
	var sealed realm.Files
	err = m.await(ctx, func() (err error) {
		sealed, err = m.realm.Identity(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if !m.cfg.Authenticates() {
		if len(sealed) > 0 {
			return config.Invalid{{Key: "auth", Text: fmt.Sprintf("the coordinators of the realm %s authenticate their clients, and this one would not: set auth and identity-key", m.cfg.Realm)}}
		}
		return nil
	}
	if m.sealing, err = sealingKey(m.cfg); err != nil {
		return err
	}
	if len(sealed) == 0 {
		sealed, err = m.proposeIdentity(ctx)
	}
	if err != nil {
		return err
	}
	if err := m.writeIdentity(sealed); err != nil {
		return err
	}
	m.ca, err = authority.Open(m.identityDir(), clock.Now)
	return err
}

// NewIdentityKey returns a new key for the setting identity-key.
func NewIdentityKey() string { return authority.NewSealingKey().Reveal() }

// sealingKey returns the key that encrypts the CA's key in the database.
func sealingKey(cfg config.Config) (authority.SealingKey, error) {
	text, err := cfg.IdentityKeyText()
	if err == nil && text == "" {
		err = fmt.Errorf("identity-key is not set: %w: this coordinator authenticates its clients, and all coordinators of its realm need the same CA; make a key with `leasehold identity key`, and give each of them the file as --identity-key @FILE", fault.ErrInvalid)
	}
	var key authority.SealingKey
	if err == nil {
		key, err = authority.ParseSealingKey(text)
	}
	if err != nil {
		return key, config.Invalid{{Key: "identity-key", Text: err.Error()}}
	}
	return key, nil
}

func (m *member) identityDir() string { return filepath.Join(m.cfg.Data, identityDir) }

// proposeIdentity makes a CA for the realm, unless another member has made one meanwhile, and returns the one that counts.
func (m *member) proposeIdentity(ctx context.Context) (realm.Files, error) {
	dir, err := os.MkdirTemp(m.cfg.Data, identityDir+"-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if _, err := authority.Create(dir, clock.Now); err != nil {
		return nil, err
	}
	files, err := m.sealIdentity(dir)
	if err != nil {
		return nil, err
	}
	return m.realm.ProposeIdentity(ctx, files)
}

// sealIdentity reads the files of the CA in a folder, and encrypts its key.
func (m *member) sealIdentity(dir string) (realm.Files, error) {
	files := realm.Files{}
	for _, name := range []string{authority.KeyFile, authority.CertificateFile} {
		data, err := identity.ReadPrivate(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	sealed, err := m.sealing.Seal(m.cfg.Realm, files[authority.KeyFile])
	files[authority.KeyFile] = sealed
	return files, err
}

// writeIdentity writes the files of the CA into the data folder. The key is written first, so that no certificate there
// is ever without its key: of a change of the CA, the file of the keys has those of both.
func (m *member) writeIdentity(sealed realm.Files) error {
	key, err := m.sealing.Unseal(m.cfg.Realm, sealed[authority.KeyFile])
	if err != nil {
		return fmt.Errorf("%w: start this coordinator with the key that the others of the realm have (--identity-key)", err)
	}
	dir := m.identityDir()
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %w", fault.ErrFolder, err)
	}
	if err := identity.WritePrivate(filepath.Join(dir, authority.KeyFile), key); err != nil {
		return err
	}
	err = identity.WritePrivate(filepath.Join(dir, authority.CertificateFile), sealed[authority.CertificateFile])
	if err == nil {
		m.sealed = sealed
	}
	return err
}

// errOtherIdentity is the error of a term in which the owner has changed the CA of the realm.
var errOtherIdentity = errors.New("the realm has another identity")

// identityChanged reports whether the realm has another CA than the member.
func (m *member) identityChanged(ctx context.Context) (bool, error) {
	if m.ca == nil {
		return false, nil
	}
	now, err := m.realm.Identity(ctx)
	return err == nil && !maps.EqualFunc(now, m.sealed, bytes.Equal), err
}

// refreshIdentity gets the CA of the realm again, because the coordinator that served before may have changed it.
func (m *member) refreshIdentity(ctx context.Context) error {
	if m.ca == nil {
		return nil
	}
	sealed, err := m.realm.Identity(ctx)
	if err == nil {
		err = m.writeIdentity(sealed)
	}
	if err == nil {
		m.ca, err = authority.Open(m.identityDir(), clock.Now)
	}
	if errors.Is(err, fault.ErrUnavailable) {
		return fmt.Errorf("%w: %w", journal.ErrDeposed, err) // begin again
	}
	return err
}

// keepIdentity keeps the CA in the realm after a change, for the other members. This one owns the realm in an epoch.
func (m *member) keepIdentity(ctx context.Context, epoch uint64) error {
	files, err := m.sealIdentity(m.identityDir())
	if err != nil {
		return err
	}
	return m.realm.SetIdentity(ctx, epoch, files)
}
