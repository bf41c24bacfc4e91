package identity

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"time"
)

// ServerName is the name that processes of the fleet ask for (SNI), at every address. A port shows
// the certificate of the coordinator's CA for it, also if it has another certificate for people.
const ServerName = "coordinator.leasehold.invalid"

// cachedSessions is how many sessions of TLS a client keeps for resumption.
const cachedSessions = 8

// ClientConfig returns the configuration of TLS for calls to the coordinator whose CA has the fingerprint.
// The handshake fails with fault.ErrUnauthenticated for another server, and with a *ClockError if the clocks differ by
// more than the coordinator's certificate allows.
//
// certificate returns the certificate of the process, nil before it has joined. It is called once or more for each
// handshake, from several goroutines. A certificate of another CA is not presented, so that the coordinator sees a
// process that has not joined yet. A session is resumed only with the certificate that the process had when it began.
func ClientConfig(ca Fingerprint, certificate func() *tls.Certificate, now func() time.Time) *tls.Config {
	return configTo(Coordinator, ca, certificate, now)
}

// ManagerConfig is ClientConfig for calls of a worker to a manager of the same coordinator.
func ManagerConfig(ca Fingerprint, certificate func() *tls.Certificate, now func() time.Time) *tls.Config {
	return configTo(Manager, ca, certificate, now)
}

// configTo returns the configuration of a client of servers of a role.
func configTo(role string, ca Fingerprint, certificate func() *tls.Certificate, now func() time.Time) *tls.Config {
	own := func() *tls.Certificate {
		c := certificate()
		if c == nil || !isOf(c, ca) {
			return nil
		}
		return c
	}
	sessions := newSessions(own)
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		Time:       now,
		ServerName: ServerName,
		// The verification of crypto/tls would check the name and trust the CAs of the system. VerifyConnection
		// replaces it: it accepts only the one CA, and no name, because the names of containers change.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			err := VerifyServer(s.PeerCertificates, ca, role, now())
			if err != nil {
				sessions.forget() // a resumed session would bring the same certificate back
			}
			return err
		},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if c := own(); c != nil {
				return c, nil
			}
			return &tls.Certificate{}, nil // crypto/tls sends none then
		},
		ClientSessionCache: sessions,
	}
}

// isOf reports whether the last certificate of the chain of c is the CA with the fingerprint.
func isOf(c *tls.Certificate, ca Fingerprint) bool {
	if len(c.Certificate) == 0 {
		return false
	}
	last, err := x509.ParseCertificate(c.Certificate[len(c.Certificate)-1])
	return err == nil && FingerprintOf(last).equal(ca)
}

// certificateKey identifies the certificate of the process in keys of sessions; empty: none.
func certificateKey(c *tls.Certificate) string {
	if c == nil {
		return ""
	}
	sum := sha256.Sum256(c.Certificate[0])
	return string(sum[:])
}
