package node

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

// broughtCertificate is a certificate that the operator brings for browsers and programs. It is read again when its file
// has changed; a wrong new file leaves the old certificate.
type broughtCertificate struct {
	cert, key string // files
	log       *slog.Logger

	mu      sync.Mutex // guards what follows
	current *tls.Certificate
	changed time.Time // of the file that was read last, also if it was wrong
}

// openCertificate reads the certificate that cfg names; nil if it names none. It fails with fault.ErrInvalid.
func openCertificate(cfg config.Config, log *slog.Logger) (*broughtCertificate, error) {
	if cfg.TLSCert == "" {
		return nil, nil
	}
	b := &broughtCertificate{cert: cfg.TLSCert, key: cfg.TLSKey, log: log}
	if err := b.read(); err != nil {
		return nil, fmt.Errorf("tls-cert: %w: %w", fault.ErrInvalid, err)
	}
	return b, nil
}

// read reads the files.
func (b *broughtCertificate) read() error {
	info, err := os.Stat(b.cert)
	if err != nil {
		return err
	}
	b.changed = info.ModTime()
	c, err := tls.LoadX509KeyPair(b.cert, b.key)
	if err != nil {
		return err
	}
	b.current = &c
	return nil
}

// get returns the certificate, after it was read again if its file has changed.
func (b *broughtCertificate) get() *tls.Certificate {
	b.mu.Lock()
	defer b.mu.Unlock()
	if info, err := os.Stat(b.cert); err != nil || !info.ModTime().Equal(b.changed) {
		if err == nil {
			err = b.read()
		}
		if err != nil {
			b.log.Warn("the new certificate cannot be used; the old one stays", "tls-cert", b.cert, "error", err)
		}
	}
	return b.current
}

// over returns the configuration of a port that presents this certificate to all clients but processes of the fleet.
func (b *broughtCertificate) over(own *tls.Config) *tls.Config {
	c := own.Clone()
	c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if hello.ServerName == identity.ServerName {
			return own.GetConfigForClient(hello)
		}
		return &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: own.NextProtos, Certificates: []tls.Certificate{*b.get()}}, nil
	}
	return c
}
