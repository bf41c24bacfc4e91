package config

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"leasehold/shared/fault"
)

// JoinFile has the join line of a container, where a service mounts its secrets.
const JoinFile = "/run/secrets/leasehold_join"

// Authenticates reports whether a coordinator authenticates its clients: if it shall, or if it listens beyond this
// machine and shall not do that without.
func (c Config) Authenticates() bool {
	beyond := !IsLoopback(c.Listen) || !IsLoopback(c.HTTP) || c.CompatListen != "" && !IsLoopback(c.CompatListen) || !areLoopback(c.Gates)
	return c.Auth || beyond && !c.Insecure
}

// JoinLine returns the text of the join line: the setting, the content of the file that it names, or that of JoinFile.
// It is empty if there is none.
func (c Config) JoinLine() (string, error) {
	if c.Join == "" {
		if _, err := os.Stat(JoinFile); err == nil {
			return secretOf("join", "@"+JoinFile)
		}
	}
	return secretOf("join", c.Join)
}

// TokenText returns the token: the setting, or the content of the file that it names. It is empty if there is none.
func (c Config) TokenText() (string, error) { return secretOf("token", c.Token) }

// DatabaseURL returns the URL of the database: the setting, or the content of the file that it names.
func (c Config) DatabaseURL() (string, error) { return secretOf("database", c.Database) }

// IdentityKeyText returns the key that encrypts the CA's key: the setting, or the content of the file that it names. It is
// empty if there is none.
func (c Config) IdentityKeyText() (string, error) { return secretOf("identity-key", c.IdentityKey) }

// SecretFlags returns the settings that were given as flags with a secret itself, and not with a file that has it.
func (c Config) SecretFlags() (keys []string) {
	for key, text := range map[string]string{"join": c.Join, "token": c.Token, "database": c.Database, "identity-key": c.IdentityKey} {
		if text != "" && !strings.HasPrefix(text, "@") && c.sources[key] == "--"+key {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// maxSecret bounds the file of a secret, in bytes.
const maxSecret = 64 << 10

// secretOf returns a secret, which may be in a file (@FILE).
func secretOf(key, text string) (string, error) {
	file, inFile := strings.CutPrefix(text, "@")
	if !inFile {
		return strings.TrimSpace(text), nil
	}
	info, err := os.Stat(file)
	if err == nil && info.Size() > maxSecret {
		err = fmt.Errorf("it has %d bytes, want at most %d", info.Size(), maxSecret)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return "", fmt.Errorf("%s @%s: %w: %w", key, file, fault.ErrInvalid, err)
	}
	return strings.TrimSpace(string(data)), nil
}

// Secret returns a text, or the content of the file that it names as @FILE.
func Secret(text string) (string, error) { return secretOf("file", text) }

// secretText is a secret, or @FILE with it. It is never shown.
type secretText struct{ to *string }

// set reads the secret or @FILE. The file is not read.
func (s secretText) set(text string) error {
	if strings.HasPrefix(text, "@") && strings.ContainsAny(text, "\n\x00") || text == "@" {
		return errNotAccepted
	}
	*s.to = text
	return nil
}
func (s secretText) accepts() string { return "the secret, or a file that has it, as @FILE" }
func (s secretText) kind() string    { return "secret" }

// String returns the file, or a text in place of the secret.
func (s secretText) String() string {
	if *s.to == "" || strings.HasPrefix(*s.to, "@") {
		return *s.to
	}
	return "(secret)"
}
