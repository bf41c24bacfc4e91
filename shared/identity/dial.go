package identity

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"leasehold/shared/fault"
)

// Dial opens a TCP connection with TLS. Another identity at the address is fault.ErrUnauthenticated, and an address at
// which no TLS is spoken fault.ErrInvalid, because retries would not help; other errors are those of the network.
func Dial(ctx context.Context, address string, config *tls.Config) (net.Conn, error) {
	c, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
	switch {
	case err == nil:
		return c, nil
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return nil, fmt.Errorf("%w: %w", fault.ErrUnauthenticated, err)
	case IsWithoutTLS(err):
		return nil, fmt.Errorf("%w: no TLS is spoken there: the coordinator does not authenticate its clients, or it is another program: %w", fault.ErrInvalid, err)
	}
	return nil, err
}

// IsWithoutTLS reports whether a handshake failed because no TLS is spoken at the address: the other side answered in
// another protocol, or with the alert by which ports of Leasehold refuse TLS.
func IsWithoutTLS(err error) bool {
	if errors.As(err, new(tls.RecordHeaderError)) {
		return true
	}
	var refused *net.OpError
	// The type of an alert is not exported; its text is.
	return errors.As(err, &refused) && refused.Op == "remote error" && refused.Err.Error() == "tls: handshake failure"
}
