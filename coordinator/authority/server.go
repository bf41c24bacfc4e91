package authority

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"strings"

	"leasehold/shared/identity"
)

// noTicket is a ticket that cannot be decrypted, so the client's next handshake is a whole one.
var noTicket = []byte("none")

// ServerConfig returns the configuration of TLS for a port of the coordinator: TLS 1.3 only.
//
// Under identity.ServerName it presents the coordinator's certificate for processes, and asks for a client certificate.
// It verifies all of that but its dates; Peer returns the result. Under other names, and without one, it presents the
// certificate for people, for localhost and for the host names and addresses that names returns; other entries, such as
// *, are left out. There it asks for no client certificate, so that browsers do not show a list of them. Both
// certificates are issued again when half of their 24 hours has passed, when the clock was set back, and when the names
// change. names is called for each handshake, from several goroutines.
//
// While there is a former CA, processes are presented a certificate of each CA, and people one of the former, because
// browsers and programs verify by the first certificate only, and may not know the new CA yet.
//
// A session that began without a client certificate is not resumed under identity.ServerName, because its process is
// about to join, and would have no certificate in later connections.
func (a *Authority) ServerConfig(names func() []string) *tls.Config {
	// net/http looks for h2 in the outer configuration, before it knows those for single clients.
	c := &tls.Config{MinVersion: tls.VersionTLS13, Time: a.now, NextProtos: []string{"h2", "http/1.1"}}
	fleet := &presented{authority: a, newKey: newFleetKey, base: a.fleetConfig(c),
		subject: pkix.Name{OrganizationalUnit: []string{identity.Coordinator}, CommonName: identity.Coordinator}}
	people := &presented{authority: a, newKey: newPeopleKey, base: c.Clone(), subject: pkix.Name{CommonName: "leasehold"}, byFormer: true}
	fleetNames := []string{identity.ServerName}
	c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if strings.EqualFold(hello.ServerName, identity.ServerName) {
			return fleet.current(fleetNames)
		}
		return people.current(withLocalhost(names()))
	}
	return c
}

// fleetConfig returns the configuration for processes, without a certificate. The keys of its tickets are those of
// outer also if a server clones outer.
func (a *Authority) fleetConfig(outer *tls.Config) *tls.Config {
	c := outer.Clone()
	c.NextProtos = nil // connections of processes are not all HTTP
	c.ClientAuth = tls.RequestClientCert
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return nil
		}
		return a.verifyPeer(s.PeerCertificates[0])
	}
	c.WrapSession = func(s tls.ConnectionState, session *tls.SessionState) ([]byte, error) {
		if len(s.PeerCertificates) == 0 {
			return noTicket, nil
		}
		return outer.EncryptTicket(s, session)
	}
	c.UnwrapSession = outer.DecryptTicket
	return c
}
