package alert

import "time"

// NewWebhookWithin is NewWebhook with another bound of a request.
func NewWebhookWithin(target string, secret []byte, allow []string, timeout time.Duration) (Channel, error) {
	c, err := NewWebhook(target, secret, allow)
	if err == nil {
		c.(*webhook).client.Timeout = timeout
	}
	return c, err
}
