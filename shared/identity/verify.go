package identity

import (
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	"leasehold/shared/fault"
)

// ClockError is the error for a certificate that does not apply now, usually because a clock is wrong. It is
// fault.ErrUnauthenticated.
type ClockError struct {
	Here        time.Time // what the clock of this process shows
	From, Until time.Time // when the certificate applies, by the clock of the coordinator that issued it
}

func (e *ClockError) Error() string {
	const form = "2006-01-02 15:04:05 MST"
	return fmt.Sprintf("the clock of this machine shows %s, but the certificate of the other side applies from %s until %s; set the clock that is wrong: %v",
		e.Here.UTC().Format(form), e.From.UTC().Format(form), e.Until.UTC().Format(form), fault.ErrUnauthenticated)
}

// Unwrap returns fault.ErrUnauthenticated.
func (e *ClockError) Unwrap() error { return fault.ErrUnauthenticated }

// VerifyServer checks the chain that a server presents: one of the CAs must have certified the server for the role and
// as a server, and the certificate must apply now. The chain may have certificates of several CAs for one key. The CA's
// own dates do not count, because its key is what a join line trusts. It fails with fault.ErrUnauthenticated, with a
// *ClockError if only the time is wrong.
func VerifyServer(chain []*x509.Certificate, cas CAs, role string, now time.Time) error {
	return verify(chain, cas, role, x509.ExtKeyUsageServerAuth, now)
}

// VerifyClient is VerifyServer for the chain that a client presents.
func VerifyClient(chain []*x509.Certificate, cas CAs, role string, now time.Time) error {
	return verify(chain, cas, role, x509.ExtKeyUsageClientAuth, now)
}

func verify(chain []*x509.Certificate, cas CAs, role string, usage x509.ExtKeyUsage, now time.Time) (err error) {
	if len(chain) < 2 {
		return fmt.Errorf("the server at this address presents no CA, so it is not a %s, or another server ends TLS in front of it: %w", role, fault.ErrUnauthenticated)
	}
	chain = chain[:min(len(chain), maxChain)]
	for _, ca := range chain[1:] {
		if !cas.Has(FingerprintOf(ca)) {
			continue
		}
		if err = verifyBy(ca, chain, role, usage, now); err == nil {
			return nil
		}
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("the %s at this address has another identity (fingerprint %s) than the one that was given (%s): %w",
		role, FingerprintOf(chain[1]), cas, fault.ErrUnauthenticated)
}

// verifyBy checks that a CA that is trusted has certified the other side. It returns the error for the last certificate
// that does not do.
func verifyBy(ca *x509.Certificate, chain []*x509.Certificate, role string, usage x509.ExtKeyUsage, now time.Time) error {
	if err := ca.CheckSignatureFrom(ca); err != nil {
		return fmt.Errorf("the CA with the fingerprint %s is not valid: %w: %w", FingerprintOf(ca), fault.ErrUnauthenticated, err)
	}
	err := fmt.Errorf("the CA with the fingerprint %s has not certified the %s at this address: %w", FingerprintOf(ca), role, fault.ErrUnauthenticated)
	for _, leaf := range certified(chain, ca) {
		if err = verifyLeaf(leaf, role, usage, now); err == nil {
			return nil
		}
	}
	return err
}

func verifyLeaf(leaf *x509.Certificate, role string, usage x509.ExtKeyUsage, now time.Time) error {
	if RoleOf(leaf) != role || leaf.IsCA {
		return fmt.Errorf("the other side has a certificate for the role %q, want %s: %w", RoleOf(leaf), role, fault.ErrUnauthenticated)
	}
	if !slices.Contains(leaf.ExtKeyUsage, usage) {
		return fmt.Errorf("the certificate of the %s is not one for its side of a connection: %w", role, fault.ErrUnauthenticated)
	}
	if now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return &ClockError{Here: now, From: leaf.NotBefore, Until: leaf.NotAfter}
	}
	return nil
}
