package identity

import (
	"crypto/tls"
	"errors"
	"net"
)

// IsWithoutTLS reports whether a handshake failed because no TLS is spoken at the address: the other side answered in
// another protocol, or with the alert by which ports of Leasehold refuse TLS. Retries would not help.
func IsWithoutTLS(err error) bool {
	if errors.As(err, new(tls.RecordHeaderError)) {
		return true
	}
	var refused *net.OpError
	// The type of an alert is not exported; its text is.
	return errors.As(err, &refused) && refused.Op == "remote error" && refused.Err.Error() == "tls: handshake failure"
}
