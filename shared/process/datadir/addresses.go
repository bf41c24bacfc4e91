package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"leasehold/shared/fault"
)

// AddressFile is the file in a data folder that tells how to reach the coordinator that
// holds the folder. It exists while the coordinator listens, and is stale after a crash.
const AddressFile = "coordinator.json"

// TokenFile is the name of the file with the token of the coordinator's own user, in its identity folder.
const TokenFile = "admin.token"

// Addresses is what AddressFile holds, as JSON.
type Addresses struct {
	PID  int    `json:"pid"`
	Gate string `json:"gate"`
	HTTP string `json:"http"`
	// Compat is the address of the control endpoints of the original indexer; empty: none.
	Compat string `json:"compat,omitempty"`
	// CA is the fingerprint of a coordinator that authenticates, whose ports speak TLS, and TokenFile the path of the
	// token of its user; empty: it does not authenticate its clients.
	CA        string `json:"ca,omitempty"`
	TokenFile string `json:"token_file,omitempty"`
	// Standby tells that the coordinator waits to take over its realm, and refuses all but the question whether it lives.
	Standby bool `json:"standby,omitempty"`
	// Gates are the gates for foreign programs, as in the setting but with their actual ports.
	Gates []string `json:"gates,omitempty"`
}

// WriteAddresses replaces the address file of a data folder in one step, so that no reader sees half
// of it.
func WriteAddresses(dir string, a Addresses) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, AddressFile)
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("%w: %w", fault.ErrFolder, err)
	}
	return os.Rename(path+".new", path)
}

// ReadAddresses returns the content of the address file of a data folder; no addresses if it does not
// exist. It fails with fault.ErrUnavailable for a file that cannot be read or decoded, because the
// coordinator may be replacing its folder.
func ReadAddresses(dir string) (a Addresses, err error) {
	path := filepath.Join(dir, AddressFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Addresses{}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err != nil {
		return Addresses{}, fmt.Errorf("%s: %w: %w", path, fault.ErrUnavailable, err)
	}
	return a, nil
}
