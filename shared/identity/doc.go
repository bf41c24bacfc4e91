// Package identity has what a process of the fleet needs to prove who it is to a coordinator, and to recognise its
// coordinator: the join line that a person passes to it, its key and certificate, and the TLS configuration of a client.
//
// A join line names the coordinator's CA by its fingerprint and holds a secret. The client verifies the fingerprint in
// the TLS handshake, so it sends the secret to no other server. Host names and addresses are not verified, because
// those of containers change. The CA certifies the role of a process (the subject's organizational unit) and its id
// (the common name).
//
// The coordinator's part is in coordinator/authority. Functions take the time as a parameter, because tests change it.
package identity
