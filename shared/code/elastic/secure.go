package elastic

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"

	"leasehold/shared/fault"
)

// Access is what a secured server asks for. The zero value is for one that asks for nothing, or for the user
// and the password in its URL. Errors name the files and never repeat what is in them.
type Access struct {
	APIKey string // file with the key that the server gave, as it gave it; empty: none
	Bearer string // file with a token; empty: none
	CA     string // file with the certificates that sign the server's, in PEM; empty: those of the system
	Cert   string // file with the certificate that this client shows, in PEM; empty: none
	Key    string // file with its private key
}

// authorization returns the value of the header Authorization; "" if there is neither a key nor a token.
func (a Access) authorization() (string, error) {
	if a.APIKey != "" && a.Bearer != "" {
		return "", fmt.Errorf("search server: %w: want an API key or a bearer token, not both", fault.ErrInvalid)
	}
	for scheme, file := range map[string]string{"ApiKey": a.APIKey, "Bearer": a.Bearer} {
		if file == "" {
			continue
		}
		secret, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("search server: %w: %w", fault.ErrInvalid, err)
		}
		secret = bytes.TrimSpace(secret)
		if len(secret) == 0 || bytes.ContainsAny(secret, " \r\n\x00") {
			return "", fmt.Errorf("search server: %s: %w: want one word", file, fault.ErrInvalid)
		}
		return scheme + " " + string(secret), nil
	}
	return "", nil
}

// tls returns how connections are secured; nil for the defaults of net/http.
func (a Access) tls() (*tls.Config, error) {
	if (a.Cert == "") != (a.Key == "") {
		return nil, fmt.Errorf("search server: %w: want a certificate with its key, or neither", fault.ErrInvalid)
	}
	if a.CA == "" && a.Cert == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.CA != "" {
		pem, err := os.ReadFile(a.CA)
		if err != nil {
			return nil, fmt.Errorf("search server: %w: %w", fault.ErrInvalid, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("search server: %s: %w: want certificates in PEM", a.CA, fault.ErrInvalid)
		}
	}
	if a.Cert != "" {
		pair, err := tls.LoadX509KeyPair(a.Cert, a.Key)
		if err != nil {
			return nil, fmt.Errorf("search server: certificate %s and key %s: %w: %w", a.Cert, a.Key, fault.ErrInvalid, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// newTransport returns the transport of net/http with bounded connections and the access of c.
func newTransport(c Config) (*http.Transport, error) {
	secured, err := c.Access.tls()
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: maxConnections, MaxConnsPerHost: maxConnections, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: 10 * time.Second, TLSClientConfig: secured, DisableCompression: !c.Gzip,
	}, nil
}
