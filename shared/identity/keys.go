package identity

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"leasehold/shared/fault"
)

// The files in the folder of a process that has joined.
const (
	KeyFile         = "identity.key" // PKCS #8 in PEM
	CertificateFile = "identity.crt" // the process's certificate and its CA's, in PEM
)

// LoadOrCreateKey returns the key in the folder of a process. It makes the key, and the folder, if there is none.
// Without a folder (dir is "") the key is only in memory. The caller has the folder for itself. It fails with
// fault.ErrFolder if other users can read the key, and with fault.ErrCorrupt if the file does not contain a key.
func LoadOrCreateKey(dir string) (ed25519.PrivateKey, error) {
	if dir == "" {
		return newKey()
	}
	path := filepath.Join(dir, KeyFile)
	data, err := ReadPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createKey(dir, path)
	}
	if err != nil {
		return nil, fmt.Errorf("the key of this process: %w", err)
	}
	key, err := parseKey(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove it, and the process joins again with a new key", path, err)
	}
	return key, nil
}

// LoadProcess returns the certificate and the key in the folder of a process that has joined. It makes and changes
// nothing. It fails with fs.ErrNotExist if the process has not joined yet, and as LoadCertificate.
func LoadProcess(dir string) (*tls.Certificate, error) {
	data, err := ReadPrivate(filepath.Join(dir, KeyFile))
	if err != nil {
		return nil, fmt.Errorf("the key of the process: %w", err)
	}
	key, err := parseKey(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, KeyFile), err)
	}
	c, _, err := LoadCertificate(dir, key)
	return c, err
}

func newKey() (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return key, err
}

func createKey(dir, path string) (ed25519.PrivateKey, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	err = os.MkdirAll(dir, 0o700)
	if err == nil {
		err = WritePrivate(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}
	if err != nil {
		return nil, fmt.Errorf("the key of this process: %w: %w", fault.ErrFolder, err)
	}
	return key, nil
}

func parseKey(data []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, fmt.Errorf("want a private key in PEM: %w", fault.ErrCorrupt)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fault.ErrCorrupt, err)
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("want an Ed25519 key, not %T: %w", key, fault.ErrCorrupt)
	}
	return private, nil
}

// inviteHeader is the PEM header of the first certificate in CertificateFile.
const inviteHeader = "Invite"

// SaveCertificate stores the chain of a process's certificate in its folder, in one step, with the id of the invite in
// the join line that the process had then. Without a folder it does nothing.
func SaveCertificate(dir string, chain [][]byte, invite string) error {
	if dir == "" {
		return nil
	}
	var data []byte
	headers := map[string]string{inviteHeader: invite}
	for _, der := range chain {
		data = append(data, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Headers: headers, Bytes: der})...)
		headers = nil
	}
	if err := WritePrivate(filepath.Join(dir, CertificateFile), data); err != nil {
		return fmt.Errorf("the certificate of this process: %w: %w", fault.ErrFolder, err)
	}
	return nil
}

// LoadCertificate returns what SaveCertificate stored, also if the certificate's time has passed, because it may be
// renewed. It fails with fs.ErrNotExist if there is none or no folder, and as NewCertificate if it does not belong to
// the key; the process then joins again.
func LoadCertificate(dir string, key ed25519.PrivateKey) (c *tls.Certificate, invite string, err error) {
	if dir == "" {
		return nil, "", fmt.Errorf("the certificate of a process without a folder: %w", fs.ErrNotExist)
	}
	path := filepath.Join(dir, CertificateFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, "", fmt.Errorf("the certificate of this process: %w", err)
	}
	var chain [][]byte
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		chain = append(chain, block.Bytes)
		invite = cmp.Or(invite, block.Headers[inviteHeader])
	}
	if c, err = NewCertificate(chain, key); err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return c, invite, nil
}
