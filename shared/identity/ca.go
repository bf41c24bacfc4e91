package identity

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"strings"

	"leasehold/shared/fault"
	"leasehold/shared/process/clock"
)

// maxPEM bounds a file with a certificate, in bytes.
const maxPEM = 64 << 10

// ParseCA returns the fingerprint of the CA that a setting names: by the fingerprint, by the CA's certificate as PEM, or
// by a PEM file. It fails with fault.ErrInvalid.
func ParseCA(text string) (Fingerprint, error) {
	if f, err := ParseFingerprint(text); err == nil {
		return f, nil
	}
	if strings.HasPrefix(strings.TrimSpace(text), "-----BEGIN") {
		return fingerprintOfPEM([]byte(text))
	}
	file, err := os.Open(text)
	if err != nil {
		return Fingerprint{}, fmt.Errorf("ca %.200q: %w: want a fingerprint of %d characters (leasehold identity show) or a PEM file (leasehold identity show --ca): %w", text, fault.ErrInvalid, textLength, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPEM))
	var f Fingerprint
	if err == nil {
		f, err = fingerprintOfPEM(data)
	}
	if err != nil {
		return Fingerprint{}, fmt.Errorf("ca %s: %w: %w", text, fault.ErrInvalid, err)
	}
	return f, nil
}

// fingerprintOfPEM returns the fingerprint of the CA whose certificate is the only one in data.
func fingerprintOfPEM(data []byte) (Fingerprint, error) {
	block, rest := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE" {
		return Fingerprint{}, fmt.Errorf("want a certificate as PEM, which begins with -----BEGIN CERTIFICATE-----: %w", fault.ErrInvalid)
	}
	if second, _ := pem.Decode(rest); second != nil {
		return Fingerprint{}, fmt.Errorf("want only the certificate of the CA, and there are several: %w", fault.ErrInvalid)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return Fingerprint{}, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	if !cert.IsCA {
		return Fingerprint{}, fmt.Errorf("the certificate is not one of a CA: %w", fault.ErrInvalid)
	}
	return FingerprintOf(cert), nil
}

// TokenConfig returns the configuration of TLS for clients that have a token and no certificate, such as programs and
// commands. ca is as ParseCA accepts it. If ca is empty, the certificate of the coordinator must be for the name that is
// dialled and of a CA that the system knows.
func TokenConfig(ca string) (*tls.Config, error) {
	if ca == "" {
		return &tls.Config{MinVersion: tls.VersionTLS12}, nil
	}
	fingerprint, err := ParseCA(ca)
	if err != nil {
		return nil, err
	}
	return ClientConfig(fingerprint, func() *tls.Certificate { return nil }, clock.Now), nil
}

// maxToken bounds a file with a token, in bytes.
const maxToken = 4 << 10

// ReadToken returns the token that a setting gives: the token itself, or the content of a file (@FILE). It fails with
// fault.ErrInvalid, and does not repeat the token.
func ReadToken(text string) (string, error) {
	name, inFile := strings.CutPrefix(text, "@")
	if !inFile {
		return strings.TrimSpace(text), nil
	}
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("token @%s: %w: %w", name, fault.ErrInvalid, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxToken))
	if err != nil {
		return "", fmt.Errorf("token @%s: %w: %w", name, fault.ErrInvalid, err)
	}
	return strings.TrimSpace(string(data)), nil
}
