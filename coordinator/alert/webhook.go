package alert

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/process/build"
)

// The headers of a webhook. The signature is "v1=" and the HMAC-SHA256 in hex of the
// timestamp, a full stop and the body; the timestamp is in seconds since 1970.
const (
	TimestampHeader = "Leasehold-Timestamp"
	SignatureHeader = "Leasehold-Signature"
	keyHeader       = "Idempotency-Key"
)

// minSecret is the least length of a secret in bytes.
const minSecret = 16

// webhook sends alerts as POST requests.
type webhook struct {
	url    string
	secret []byte
	client *http.Client
}

// NewWebhook returns a channel that posts alerts to a URL, signed with a secret. Private addresses must be in
// allow, as hosts, addresses or networks. It fails with fault.ErrInvalid for a short secret, and for a URL or an
// entry that is not accepted. Errors name neither the secret nor the URL, which may have a token in it.
func NewWebhook(target string, secret []byte, allow []string) (Channel, error) {
	secret = bytes.TrimSpace(secret)
	if len(secret) < minSecret {
		return nil, fmt.Errorf("%w: the secret of the webhook has %d bytes: want at least %d", fault.ErrInvalid, len(secret), minSecret)
	}
	client, err := fetch.NewGuardedClient(target, allow, sendTimeout)
	if err != nil {
		return nil, fmt.Errorf("URL of the webhook: %w", err)
	}
	return &webhook{target, secret, client}, nil
}

func (w *webhook) Name() string { return ChannelWebhook }

// Sign returns the signature of a body sent at a time.
func Sign(secret []byte, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// refusals are the statuses after which the same request would be refused again.
var refusals = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}

// Send posts the alert. It fails with fault.ErrInvalid for a status in refusals, otherwise with
// fault.ErrUnavailable.
func (w *webhook) Send(ctx context.Context, m Message) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(m.Body))
	if err != nil {
		return fmt.Errorf("webhook: %w", withoutURL(err))
	}
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", build.UserAgent(""))
	r.Header.Set(TimestampHeader, timestamp)
	r.Header.Set(SignatureHeader, Sign(w.secret, timestamp, m.Body))
	r.Header.Set(keyHeader, m.Key)
	answer, err := w.client.Do(r)
	if err != nil {
		return fmt.Errorf("webhook: %w: %w", fault.ErrUnavailable, withoutURL(err))
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection can be used again
	switch status := answer.StatusCode; {
	case status >= 200 && status < 300:
		return nil
	case status >= 300 && status < 400:
		return fmt.Errorf("webhook: %w: the answer is a redirect (%d), which is not followed: set the URL that it leads to", fault.ErrUnavailable, status)
	case slices.Contains(refusals, status):
		return fmt.Errorf("webhook: %w: the answer is %d", fault.ErrInvalid, status)
	default:
		return fmt.Errorf("webhook: %w: the answer is %d", fault.ErrUnavailable, status)
	}
}

// withoutURL removes the URL from an error of net/http, because it may have a token in it.
func withoutURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
