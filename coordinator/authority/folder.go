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
	CertificateFile = "ca.crt" // PEM
)

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
	key, err := readKey(filepath.Join(dir, KeyFile))
	if err != nil {
		return nil, err
	}
	cert, err := readCertificate(filepath.Join(dir, CertificateFile))
	if err != nil {
		return nil, err
	}
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(cert.PublicKey) {
		return nil, fmt.Errorf("%s: %s and %s are not of the same CA; restore both from one backup: %w", dir, KeyFile, CertificateFile, fault.ErrCorrupt)
	}
	return &Authority{key: key, cert: cert, now: now}, nil
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

func readKey(path string) (crypto.Signer, error) {
	block, err := readPEM(path, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(block)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, fault.ErrCorrupt, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s: want a key that signs, not %T: %w", path, key, fault.ErrCorrupt)
	}
	return signer, nil
}

func readCertificate(path string) (*x509.Certificate, error) {
	block, err := readPEM(path, "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(block)
	if err == nil {
		err = cert.CheckSignatureFrom(cert)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: want the certificate of a CA: %w: %w", path, fault.ErrCorrupt, err)
	}
	return cert, nil
}

func readPEM(path, kind string) ([]byte, error) {
	data, err := identity.ReadPrivate(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("%s: want a %s in PEM: %w", path, kind, fault.ErrCorrupt)
	}
	return block.Bytes, nil
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
			return folderError(identity.WritePrivate(filepath.Join(unfinished, KeyFile), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
		},
		func() error {
			return folderError(identity.WritePrivate(filepath.Join(unfinished, CertificateFile), encodeCertificate(cert)))
		},
		func() error { return removeEmpty(dir) },
		func() error { return folderError(os.Rename(unfinished, dir)) },
		func() error { return folderError(platform.SyncDir(filepath.Dir(dir))) },
	}
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
