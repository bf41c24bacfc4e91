package authority

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

// Rotate makes a new CA, and accepts the one of today until end, a time in whole seconds: not at all if it has passed.
// It fails with fault.ErrConflict while an earlier former CA is accepted, unless end has passed, because a client that
// knows only that one would be locked out before the end that was promised. It calls record with the fingerprint of the
// new CA before it writes that, and fails if record does; nil records nothing. The caller has the data folder for itself.
func (a *Authority) Rotate(end time.Time, record func(next identity.Fingerprint) error) error {
	end = end.UTC().Truncate(time.Second)
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if len(a.cas) > 1 && now.Before(a.cas[1].end) && now.Before(end) {
		return fmt.Errorf("%w: the CA before this one is accepted until %s; wait for that, or end both at once (--until now)",
			fault.ErrConflict, a.cas[1].end.Format(time.RFC3339))
	}
	next, steps := a.rotation(now, end, record)
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("the identity of the coordinator: %w", err)
		}
	}
	a.cas, a.untidy = *next, true
	return nil
}

// rotation returns the steps of Rotate, and where they leave the new CAs. The new key is written beside the others before
// the certificates, and these in one step, so a crash leaves either the previous CAs, with a key that belongs to none, or
// the new ones.
func (a *Authority) rotation(now, end time.Time, record func(identity.Fingerprint) error) (next *[]*ca, steps []func() error) {
	next = &[]*ca{}
	return next, []func() error{
		func() error {
			key, der, err := newCA(now)
			if err != nil {
				return err
			}
			cert, err := x509.ParseCertificate(der)
			if err != nil {
				return err
			}
			signer, err := parseSigner(key)
			*next = append(*next, &ca{key: signer, cert: cert})
			if now.Before(end) {
				*next = append(*next, &ca{key: a.cas[0].key, cert: a.cas[0].cert, end: end})
			}
			return err
		},
		func() error {
			if record == nil {
				return nil
			}
			return record(identity.FingerprintOf((*next)[0].cert))
		},
		func() error { return a.writeKeys(append(slices.Clone(*next), a.cas...)) },
		func() error { return a.writeCertificates(*next) },
	}
}

// Tidy removes from the files what a change of the CA has left: keys without a certificate, and a former CA that is not
// accepted any more. The caller has the data folder for itself.
func (a *Authority) Tidy() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, name := range []string{KeyFile, CertificateFile} {
		if err := os.Remove(filepath.Join(a.dir, name+identity.UnfinishedSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return folderError(err)
		}
	}
	if !a.untidy {
		return nil
	}
	if err := a.writeCertificates(a.cas); err != nil { // first: no certificate may be without its key
		return err
	}
	err := a.writeKeys(a.cas)
	a.untidy = err != nil
	return err
}

// writeKeys replaces the file of the keys with those of CAs, each once.
func (a *Authority) writeKeys(cas []*ca) error {
	var data []byte
	for i, c := range cas {
		if slices.ContainsFunc(cas[:i], func(other *ca) bool { return other.cert.Equal(c.cert) }) {
			continue
		}
		der, err := x509.MarshalPKCS8PrivateKey(c.key)
		if err != nil {
			return err
		}
		data = append(data, encodeKey(der)...)
	}
	return folderError(identity.WritePrivate(filepath.Join(a.dir, KeyFile), data))
}

// writeCertificates replaces the file of the certificates.
func (a *Authority) writeCertificates(cas []*ca) error {
	var data []byte
	for _, c := range cas {
		block := &pem.Block{Type: "CERTIFICATE", Bytes: c.cert.Raw}
		if !c.end.IsZero() {
			block.Headers = map[string]string{endHeader: c.end.Format(time.RFC3339)}
		}
		data = append(data, pem.EncodeToMemory(block)...)
	}
	return folderError(identity.WritePrivate(filepath.Join(a.dir, CertificateFile), data))
}
