package authority

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// lifeOfServer is how long the certificates apply that the coordinator presents.
const lifeOfServer = 24 * time.Hour

// presented is a certificate that the coordinator presents, with the configuration that presents it.
type presented struct {
	authority *Authority
	subject   pkix.Name
	byFormer  bool // the former CA signs as long as it is accepted, in place of both
	newKey    func() (crypto.Signer, error)
	base      *tls.Config // without a certificate

	mu     sync.Mutex // guards the rest
	config *tls.Config
	leaf   *x509.Certificate // nil: none was issued yet
	names  []string          // in leaf
	cas    []*ca             // that were accepted then
}

// newFleetKey and newPeopleKey make the keys of the two certificates. People have P-256, because browsers do not offer
// Ed25519 in their handshakes.
func newFleetKey() (crypto.Signer, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return key, err
}

func newPeopleKey() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// current returns the configuration with a certificate for the names, which must be sorted. It issues the certificate
// if there is none, if it was for other names, if other CAs are accepted, and if the time is not in the first half of its life: then every client
// whose clock differs by less than an hour accepts it.
func (p *presented) current(names []string) (*tls.Config, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, cas := p.authority.now(), p.authority.accepted()
	if p.leaf != nil && slices.Equal(p.names, names) && slices.Equal(p.cas, cas) && !now.Before(p.leaf.NotBefore.Add(backdating)) && now.Before(p.leaf.NotAfter.Add(-lifeOfServer/2)) {
		return p.config, nil
	}
	cert, err := p.issue(cas, names, now)
	if err != nil {
		return nil, err
	}
	p.config = p.base.Clone()
	p.config.Certificates = []tls.Certificate{*cert}
	p.leaf, p.names, p.cas = cert.Leaf, names, cas
	return p.config, nil
}

func (p *presented) issue(cas []*ca, names []string, now time.Time) (*tls.Certificate, error) {
	key, err := p.newKey()
	if err != nil {
		return nil, err
	}
	template, err := template(now, lifeOfServer)
	if err != nil {
		return nil, err
	}
	template.Subject = p.subject
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, name := range names {
		if addr, err := netip.ParseAddr(name); err == nil {
			template.IPAddresses = append(template.IPAddresses, addr.AsSlice())
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	if p.byFormer {
		cas = cas[len(cas)-1:]
	}
	chain, leaf, err := signByEach(cas, template, key.Public())
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: chain, PrivateKey: key, Leaf: leaf}, nil
}
