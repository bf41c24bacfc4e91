package identity

import (
	"crypto/sha256"
	"crypto/tls"
	"time"
)

// ServerName is the name that processes of the fleet ask for (SNI), at every address. A port shows
// the certificate of the coordinator's CA for it, also if it has another certificate for people.
const ServerName = Coordinator + nameSuffix

const nameSuffix = ".leasehold.invalid"

// NameOf returns the name in the certificates of managers and workers, which programs such as Prometheus verify at ports
// that show them.
func NameOf(role string) string { return role + nameSuffix }

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
	return FleetConfig(Coordinator, func() CAs { return CAs{ca} }, certificate, now)
}

// FleetConfig is ClientConfig for calls to servers of a role, Coordinator or Manager, that one of several CAs has
// certified. trusted returns those CAs; it is called once or more for each handshake, from several goroutines.
func FleetConfig(role string, trusted func() CAs, certificate func() *tls.Certificate, now func() time.Time) *tls.Config {
	own := func() *tls.Certificate {
		c := certificate()
		if !IssuersOf(c, now()).Meet(trusted()) {
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
			err := VerifyServer(s.PeerCertificates, trusted(), role, now())
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

// certificateKey identifies the certificate of the process in keys of sessions; empty: none.
func certificateKey(c *tls.Certificate) string {
	if c == nil {
		return ""
	}
	sum := sha256.Sum256(c.Certificate[0])
	return string(sum[:])
}
