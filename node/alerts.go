package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"leasehold/coordinator/alert"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// newAlerts returns the configured channels that report dead letters to administrators; none if none is
// configured.
func newAlerts(cfg config.Config) (channels []alert.Channel, err error) {
	if cfg.DeadWebhook != "" {
		secret, err := os.ReadFile(cfg.DeadWebhookSecret)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", fault.ErrNotFound, err)
		}
		if err != nil {
			return nil, fmt.Errorf("dead-webhook-secret: %w", err)
		}
		w, err := alert.NewWebhook(cfg.DeadWebhook, secret, cfg.DeadWebhookAllow)
		if err != nil {
			return nil, fmt.Errorf("dead-webhook: %w (dead-webhook-allow lists the private hosts)", err)
		}
		channels = append(channels, w)
	}
	if len(cfg.DeadCommand) > 0 {
		c, err := alert.NewCommand(cfg.DeadCommand)
		if err != nil {
			return nil, fmt.Errorf("dead-command: %w", err)
		}
		channels = append(channels, c)
	}
	return channels, nil
}
