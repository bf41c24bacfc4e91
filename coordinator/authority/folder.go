package authority

import (
	"cmp"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
	"leasehold/shared/process/platform"
)

// The files in the folder of an authority.
const (
	KeyFile         = "ca.key" // PKCS #8 in PEM
	CertificateFile = "ca.crt" // PEM; the former CA has endHeader
)

// endHeader is the PEM header of the certificate of the former CA: until when it is accepted, as RFC 3339.
const endHeader = "Accepted-Until"

// newSuffix is added to the name of a folder that is not complete yet.
const newSuffix = ".new"

// Open opens the authority in a folder. now returns the time. It fails with fs.ErrNotExist if the folder is missing or
// empty, with fault.ErrFolder if other users can use the folder or a file in it, and with fault.ErrCorrupt if the folder
// holds something else or only a part of an authority.
func Open(dir string, now func() time.Time) (*Authority, error) {
	a, err := open(dir, now)
	if err != nil {
		return nil, fmt.Errorf("the identity of the coordinator: %w", err)
	}
	return a, nil
}

func open(dir string, now func() time.Time) (*Authority, error) {
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	// Certificates first: each key is written before its certificate, so a change meanwhile leaves none without its key.
	cas, err := readCertificates(filepath.Join(dir, CertificateFile))
	if err != nil {
		return nil, err
	}
	keys, err := readKeys(filepath.Join(dir, KeyFile))
	if err != nil {
		return nil, err
	}
	a := &Authority{dir: dir, now: now}
	for i, c := range cas {
		if i > 0 && !now().Before(c.end) {
			continue
		}
		if c.key = keyOf(c.cert, keys); c.key == nil {
			return nil, fmt.Errorf("%s: %s and %s are not of the same CA; restore both from one backup: %w", dir, KeyFile, CertificateFile, fault.ErrCorrupt)
		}
		a.cas = append(a.cas, c)
	}
	a.untidy = len(cas) != len(a.cas) || len(keys) != len(a.cas)
	return a, nil
}

// keyOf returns the key that a certificate certifies; nil if it is not one of keys.
func keyOf(cert *x509.Certificate, keys []crypto.Signer) crypto.Signer {
	for _, key := range keys {
		if public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool }); ok && public.Equal(cert.PublicKey) {
			return key
		}
	}
	return nil
}

// checkFolder checks that a folder is private and has the files of an authority.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is a file, want a folder: %w", dir, fault.ErrFolder)
	}
	if err := identity.RequirePrivate(dir, info); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return fmt.Errorf("%s is empty: %w", dir, fs.ErrNotExist)
	}
	for _, name := range []string{KeyFile, CertificateFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			// Not %w of err: the caller must not take a damaged folder for a missing one, and replace it.
			return fmt.Errorf("%s has no %s; restore the folder from a backup, or remove it for a new identity, which every process must join with a new line: %w",
				dir, name, fault.ErrCorrupt)
		}
	}
	return nil
}

func readKeys(path string) (keys []crypto.Signer, err error) {
	blocks, err := readPEM(path, "PRIVATE KEY")
	for _, block := range blocks {
		key, err := parseSigner(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", path, fault.ErrCorrupt, err)
		}
		keys = append(keys, key)
	}
	return keys, err
}

func parseSigner(der []byte) (crypto.Signer, error) {
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("want a key that signs, not %T", key)
	}
	return signer, nil
}

// readCertificates reads the certificates of the current CA and, after it, of the former one.
func readCertificates(path string) (cas []*ca, err error) {
	blocks, err := readPEM(path, "CERTIFICATE")
	for i, block := range blocks {
		cert, err := x509.ParseCertificate(block.Bytes)
		if err == nil {
			err = cert.CheckSignatureFrom(cert)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: want the certificate of a CA: %w: %w", path, fault.ErrCorrupt, err)
		}
		c := &ca{cert: cert}
		if i > 0 {
			if c.end, err = time.Parse(time.RFC3339, block.Headers[endHeader]); err != nil {
				return nil, fmt.Errorf("%s: certificate %d: %s: %w: %w", path, i+1, endHeader, fault.ErrCorrupt, err)
			}
		}
		cas = append(cas, c)
	}
	return cas, err
}

// readPEM reads a file of PEM blocks of a kind, at least one.
func readPEM(path, kind string) (blocks []*pem.Block, err error) {
	data, err := identity.ReadPrivate(path)
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != kind {
			blocks = nil
			break
		}
		blocks = append(blocks, block)
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("%s: want a %s in PEM: %w", path, kind, fault.ErrCorrupt)
	}
	return blocks, nil
}

// Create makes a new authority in a folder that is missing or empty, and opens it. It fails with fault.ErrConflict if
// the folder has files. The caller has the data folder for itself.
func Create(dir string, now func() time.Time) (*Authority, error) {
	for _, step := range creation(dir, now()) {
		if err := step(); err != nil {
			return nil, fmt.Errorf("the identity of the coordinator: %w", err)
		}
	}
	return Open(dir, now)
}

// creation returns the steps of Create. A crash between two of them, or within one, leaves a folder under another name
// that the next Create removes.
func creation(dir string, now time.Time) []func() error {
	unfinished := dir + newSuffix
	var key, cert []byte
	return []func() error{
		func() error { return requireEmpty(dir) },
		func() error { return os.RemoveAll(unfinished) },
		func() error { return folderError(os.MkdirAll(unfinished, 0o700)) },
		func() (err error) {
			key, cert, err = newCA(now)
			return err
		},
		func() error {
			return folderError(identity.WritePrivate(filepath.Join(unfinished, KeyFile), encodeKey(key)))
		},
		func() error {
			return folderError(identity.WritePrivate(filepath.Join(unfinished, CertificateFile), encodeCertificate(cert)))
		},
		func() error { return removeEmpty(dir) },
		func() error { return folderError(os.Rename(unfinished, dir)) },
		func() error { return folderError(platform.SyncDir(filepath.Dir(dir))) },
	}
}

func encodeKey(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func folderError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", fault.ErrFolder, err)
}

// requireEmpty fails with fault.ErrConflict if dir has files.
func requireEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	return cmp.Or(folderError(err), fmt.Errorf("%s has files already, want an empty folder or none: %w", dir, fault.ErrConflict))
}

// removeEmpty removes an empty folder, because not every system renames a folder over another.
func removeEmpty(dir string) error {
	if err := os.Remove(dir); !errors.Is(err, fs.ErrNotExist) {
		return folderError(err)
	}
	return nil
}
