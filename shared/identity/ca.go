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

// maxCAs bounds the CAs of a setting.
const maxCAs = 4

// ParseCA returns the fingerprints of the CAs that a setting names: by fingerprints with commas between them, by the CAs'
// certificates as PEM, or by a PEM file. There are two CAs while a coordinator changes its own. It fails with
// fault.ErrInvalid.
func ParseCA(text string) (CAs, error) {
	if cas, err := parseFingerprints(text); err == nil {
		return cas, nil
	}
	if strings.HasPrefix(strings.TrimSpace(text), "-----BEGIN") {
		return fingerprintsOfPEM([]byte(text))
	}
	file, err := os.Open(text)
	if err != nil {
		return nil, fmt.Errorf("ca %.200q: %w: want a fingerprint of %d characters (leasehold identity show) or a PEM file (leasehold identity show --ca): %w", text, fault.ErrInvalid, textLength, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPEM))
	var cas CAs
	if err == nil {
		cas, err = fingerprintsOfPEM(data)
	}
	if err != nil {
		return nil, fmt.Errorf("ca %s: %w: %w", text, fault.ErrInvalid, err)
	}
	return cas, nil
}

func parseFingerprints(text string) (cas CAs, err error) {
	for part := range strings.SplitSeq(text, ",") {
		f, err := ParseFingerprint(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		cas = append(cas, f)
	}
	return cas, checkNumber(cas)
}

// fingerprintsOfPEM returns the fingerprints of the CAs whose certificates are in data.
func fingerprintsOfPEM(data []byte) (cas CAs, err error) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("want certificates as PEM, not a %.40q: %w", block.Type, fault.ErrInvalid)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
		}
		if !cert.IsCA {
			return nil, fmt.Errorf("the certificate is not one of a CA: %w", fault.ErrInvalid)
		}
		cas = append(cas, FingerprintOf(cert))
	}
	if len(cas) == 0 {
		return nil, fmt.Errorf("want a certificate as PEM, which begins with -----BEGIN CERTIFICATE-----: %w", fault.ErrInvalid)
	}
	return cas, checkNumber(cas)
}

func checkNumber(cas CAs) error {
	if len(cas) > maxCAs {
		return fmt.Errorf("there are %d CAs, want at most %d: %w", len(cas), maxCAs, fault.ErrInvalid)
	}
	return nil
}

// TokenConfig returns the configuration of TLS for clients that have a token and no certificate, such as programs and
// commands. ca is as ParseCA accepts it. If ca is empty, the certificate of the coordinator must be for the name that is
// dialled and of a CA that the system knows.
func TokenConfig(ca string) (*tls.Config, error) {
	if ca == "" {
		return &tls.Config{MinVersion: tls.VersionTLS12}, nil
	}
	cas, err := ParseCA(ca)
	if err != nil {
		return nil, err
	}
	return FleetConfig(Coordinator, func() CAs { return cas }, func() *tls.Certificate { return nil }, clock.Now), nil
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
