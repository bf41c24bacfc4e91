package types

import (
	"time"

	"leasehold/models"
)

// NewInvite is the body that makes an invite.
type NewInvite struct {
	Role      string         `json:"role" enum:"worker,manager" doc:"of the processes that join by it"`
	Name      string         `json:"name,omitempty" doc:"for people; at most 200 bytes" schema:"maxLength: 200"`
	Service   bool           `json:"service,omitempty" doc:"for the replicas of a service: any number of uses, and no end"`
	Expires   models.Seconds `json:"expires_s,omitempty" doc:"time for which it can be used; 0: a day" schema:"minimum: 0"`
	Uses      int            `json:"uses,omitempty" doc:"processes that may join; 0: any number" schema:"minimum: 0"`
	Addresses []string       `json:"addresses,omitempty" doc:"host:port of the gate, for the join line; by default those at which the coordinator listens"`
}

// Invite is a secret by which processes join.
type Invite struct {
	ID      string     `json:"id"`
	Join    string     `json:"join,omitempty" doc:"the join line, with the secret; only when the invite is made"`
	Role    string     `json:"role" enum:"worker,manager"`
	Name    string     `json:"name,omitempty"`
	Service bool       `json:"service" doc:"for the replicas of a service"`
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires,omitempty" doc:"absent: never"`
	Uses    int        `json:"uses" doc:"processes that may join; 0: any number"`
	Used    int        `json:"used" doc:"processes that have joined"`
	Latest  *time.Time `json:"latest_use,omitempty"`
}

// NewJoin is the body by which a process joins.
type NewJoin struct {
	Invite  string `json:"invite" doc:"id of the invite"`
	Secret  string `json:"secret" doc:"of the invite"`
	Request []byte `json:"request" doc:"certificate signing request for the key of the process, DER in base64"`
	Name    string `json:"name,omitempty" doc:"of the process, for people; at most 200 bytes" schema:"maxLength: 200"`
}

// NewRenewal is the body by which a process renews its certificate.
type NewRenewal struct {
	Request []byte `json:"request" doc:"certificate signing request for the key of the process, DER in base64"`
}

// Joined is the certificate of a process.
type Joined struct {
	Peer  string    `json:"peer" doc:"id of the process"`
	Role  string    `json:"role" enum:"worker,manager"`
	Chain [][]byte  `json:"chain" doc:"the certificate and the coordinator's, each DER in base64"`
	Ends  time.Time `json:"ends" doc:"of the certificate"`
}

// Peer is a process that has joined.
type Peer struct {
	ID      string    `json:"id"`
	Role    string    `json:"role" enum:"worker,manager"`
	Name    string    `json:"name,omitempty"`
	Invite  string    `json:"invite" doc:"id of the invite by which it joined last"`
	Joined  time.Time `json:"joined"`
	Seen    time.Time `json:"seen" doc:"when it was connected last, to a minute"`
	Ends    time.Time `json:"ends" doc:"of its certificate"`
	Revoked bool      `json:"revoked"`
}

// NewToken is the body that makes a token.
type NewToken struct {
	Name    string         `json:"name" doc:"unique"`
	Roles   []string       `json:"roles" doc:"reader, producer, worker, manager or admin"`
	Spaces  []string       `json:"spaces,omitempty" doc:"prefixes of the application spaces that it may use; none: all"`
	Expires models.Seconds `json:"expires_s,omitempty" doc:"time for which it can be used; 0: without an end" schema:"minimum: 0"`
}

// Token is what a program or a person shows to be admitted.
type Token struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Token   string     `json:"token,omitempty" doc:"the secret; only when the token is made"`
	Roles   []string   `json:"roles"`
	Spaces  []string   `json:"spaces,omitempty" doc:"prefixes of the application spaces that it may use; absent: all"`
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires,omitempty" doc:"absent: never"`
}

// AuditRecord is one change that a person or a program made, or tried to make.
type AuditRecord struct {
	At       time.Time `json:"at"`
	Identity string    `json:"identity" doc:"id of the token or the process"`
	Name     string    `json:"name,omitempty"`
	Roles    []string  `json:"roles"`
	Address  string    `json:"address"`
	Action   string    `json:"action" doc:"operation of the API"`
	Object   string    `json:"object" doc:"path of the request"`
	Outcome  string    `json:"outcome" doc:"done, or why not"`
}

// Identity is the identity of a coordinator that authenticates its clients.
type Identity struct {
	Fingerprint string          `json:"fingerprint" doc:"of the CA"`
	Certificate string          `json:"certificate" doc:"of the CA and, while it changes, of the former one, as PEM"`
	Former      *FormerIdentity `json:"former,omitempty" doc:"the CA before the latest change, while it is accepted"`
}

// Caller is who makes a request.
type Caller struct {
	ID         string   `json:"id" doc:"of the token or the process; everybody without authentication"`
	Name       string   `json:"name,omitempty" doc:"of the token or the process"`
	Roles      []string `json:"roles" doc:"with those that they include"`
	Operations []string `json:"operations" doc:"ids of the operations of this API that the roles allow"`
}

// FormerIdentity is a CA that is still accepted after a change.
type FormerIdentity struct {
	Fingerprint string    `json:"fingerprint"`
	Until       time.Time `json:"until" doc:"when it is accepted no more"`
}

// CAs returns the fingerprints, as the setting ca has them.
func (i Identity) CAs() string {
	if i.Former == nil {
		return i.Fingerprint
	}
	return i.Fingerprint + "," + i.Former.Fingerprint
}

// NewIdentity is the body that changes the CA.
type NewIdentity struct {
	Until time.Time `json:"until" doc:"when the CA of today is accepted no more, in whole seconds; at once if it has passed"`
}
