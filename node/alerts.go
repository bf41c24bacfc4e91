package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"leasehold/coordinator/alert"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// newAlerts returns the configured channels that report dead letters to administrators; none if none is
// configured.
func newAlerts(cfg config.Config) ([]alert.Channel, error) {
	return newChannels("dead", cfg.DeadWebhook, cfg.DeadWebhookSecret, cfg.DeadWebhookAllow, cfg.DeadCommand)
}

// newAttentionAlerts returns the configured channels that report attention items.
func newAttentionAlerts(cfg config.Config) ([]alert.Channel, error) {
	return newChannels("alert", cfg.AlertWebhook, cfg.AlertWebhookSecret, cfg.AlertWebhookAllow, cfg.AlertCommand)
}

// newChannels returns the channels of the settings that begin with a prefix. secretFile is the path of a file; url and
// command may be empty.
func newChannels(prefix, url, secretFile string, allow, command []string) (channels []alert.Channel, err error) {
	if url != "" {
		secret, err := os.ReadFile(secretFile)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", fault.ErrNotFound, err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s-webhook-secret: %w", prefix, err)
		}
		w, err := alert.NewWebhook(url, secret, allow)
		if err != nil {
			return nil, fmt.Errorf("%[1]s-webhook: %[2]w (%[1]s-webhook-allow lists the private hosts)", prefix, err)
		}
		channels = append(channels, w)
	}
	if len(command) > 0 {
		c, err := alert.NewCommand(command)
		if err != nil {
			return nil, fmt.Errorf("%s-command: %w", prefix, err)
		}
		channels = append(channels, c)
	}
	return channels, nil
}

// openAddresses returns the addresses at which clients beyond this machine are not authenticated, separated by commas;
// empty: none. A gate for foreign programs that is fenced by its role and its networks is not one of them.
func openAddresses(cfg config.Config) string {
	if cfg.Authenticates() {
		return ""
	}
	var open []string
	addresses := []string{cfg.Listen, cfg.HTTP, cfg.CompatListen}
	for _, g := range cfg.Gates {
		addresses = append(addresses, g.Address)
	}
	for _, address := range addresses {
		if address != "" && !config.IsLoopback(address) && !slices.Contains(open, address) {
			open = append(open, address)
		}
	}
	return strings.Join(open, ", ")
}
