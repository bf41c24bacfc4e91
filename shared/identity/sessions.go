package identity

import (
	"crypto/tls"
	"sync"
)

// sessions is a cache of TLS sessions whose keys contain the certificate of the process. A server takes the client's
// certificate of a resumed session from its ticket, so it would see the previous certificate after a renewal, and none
// after a join.
type sessions struct {
	certificate func() *tls.Certificate

	mu    sync.Mutex // guards cache
	cache tls.ClientSessionCache
}

func newSessions(certificate func() *tls.Certificate) *sessions {
	return &sessions{certificate: certificate, cache: tls.NewLRUClientSessionCache(cachedSessions)}
}

// Get implements tls.ClientSessionCache.
func (s *sessions) Get(key string) (*tls.ClientSessionState, bool) {
	return s.current().Get(key + certificateKey(s.certificate()))
}

// Put implements tls.ClientSessionCache.
func (s *sessions) Put(key string, state *tls.ClientSessionState) {
	s.current().Put(key+certificateKey(s.certificate()), state)
}

// forget removes all sessions.
func (s *sessions) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache = tls.NewLRUClientSessionCache(cachedSessions)
}

func (s *sessions) current() tls.ClientSessionCache {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cache
}
