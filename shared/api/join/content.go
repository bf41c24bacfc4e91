package join

import (
	"crypto/tls"

	"leasehold/shared/identity"
)

// ContentServer returns the configuration of TLS of a manager that serves files to workers: it presents the manager's
// certificate, and admits workers of the same coordinator only.
func (m *Member) ContentServer() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS13,
		Time:           m.Now,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return m.own(), nil },
		ClientAuth:     tls.RequireAnyClientCert, // VerifyConnection verifies it
		VerifyConnection: func(s tls.ConnectionState) error {
			return identity.VerifyClient(s.PeerCertificates, m.trusted(), identity.Worker, m.Now())
		},
	}
}

// MetricsServer returns the configuration of TLS of a port that presents the certificate of the process and asks for none.
func (m *Member) MetricsServer() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS13,
		Time:           m.Now,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return m.own(), nil },
	}
}

// ContentClient returns the configuration of TLS of a worker that reads the files of managers.
func (m *Member) ContentClient() *tls.Config {
	return identity.FleetConfig(identity.Manager, m.trusted, m.own, m.Now)
}
