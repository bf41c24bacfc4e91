package gitrepo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"leasehold/shared/fault"
)

// The ends of the names of a mirror's files beside its folder.
const (
	configSuffix      = ".config"
	credentialsSuffix = ".credentials"
)

// The environment variables that name the file with a token, and the file with lines of a
// user and a password as credential helpers print them.
const (
	tokenFile       = "LEASEHOLD_GIT_TOKEN_FILE"
	credentialsFile = "LEASEHOLD_GIT_CREDENTIALS_FILE"
)

// The credential helpers print the content of the files that the environment names, so
// that no command line has a secret. Their texts are constant.
const (
	tokenHelper = `!f() { test "$1" = get || exit 0; printf 'username=x-access-token\npassword=%s\n' "$(head -c 4096 "$` + tokenFile + `" | head -n 1)"; }; f`
	userHelper  = `!f() { test "$1" = get || exit 0; cat "$` + credentialsFile + `"; }; f`
)

// safeConfig is what every git command runs with.
const safeConfig = `[core]
	hooksPath = /dev/null
	attributesFile = /dev/null
	fsmonitor = false
	symlinks = false
	askPass =
	alternateRefsCommand = true
[protocol]
	allow = never
[fetch]
	recurseSubmodules = false
	unpackLimit = 1
	writeCommitGraph = false
[submodule]
	recurse = false
[gc]
	auto = 0
[maintenance]
	auto = false
[pack]
	threads = 1
	windowMemory = 64m
[core]
	packedGitLimit = 128m
	packedGitWindowSize = 8m
	deltaBaseCacheLimit = 32m
[http]
	followRedirects = false
	lowSpeedLimit = 1000
	lowSpeedTime = 60
[init]
	templateDir =
[advice]
	detachedHead = false
`

// config returns the path of the configuration of a mirror's commands.
func (m command) config() string { return filepath.Join(m.store.Dir, m.id+configSuffix) }

// writeConfig writes the configuration of a mirror's commands: safeConfig, the checked address of
// the source, the folders that git may open although another user owns them, and the credential
// helper. An empty helper before it removes those of the system. It is a file, because git removes
// other configuration from the environment of the programs that it starts.
func (m command) writeConfig(ctx context.Context) error {
	var b strings.Builder
	b.WriteString(safeConfig)
	pinned, err := m.store.pinnedAddress(ctx, m.src)
	if err != nil {
		return err
	}
	if pinned != "" {
		fmt.Fprintf(&b, "[http]\n\tcurloptResolve = %s\n", quoted(pinned))
	}
	b.WriteString("[safe]\n\tdirectory = " + quoted(m.dir) + "\n")
	if m.src.url == nil && m.src.trusted {
		for _, dir := range []string{m.src.uri, filepath.Join(m.src.uri, ".git")} {
			b.WriteString("\tdirectory = " + quoted(dir) + "\n")
		}
	}
	b.WriteString("[credential]\n\thelper =\n\thelper = " + quoted(m.credentialHelper()) + "\n\tuseHttpPath = true\n")
	if err := os.WriteFile(m.config(), []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("mirror %s: %w: %w", m.id, fault.ErrFolder, err)
	}
	return nil
}

// credentialHelper returns the credential helper of the mirror's source: that for the user of the
// URL, else that for the token of its host. It is empty if there is neither, for a folder and for
// SSH, which has keys.
func (m command) credentialHelper() string {
	switch {
	case m.src.url == nil || m.src.url.Scheme == "ssh":
		return ""
	case m.src.user != nil:
		return userHelper
	case m.store.Tokens[strings.ToLower(m.src.url.Hostname())] != "":
		return tokenHelper
	}
	return ""
}

// writeCredentials writes the user and the password of the source's URL to a file that only this
// user reads, until remove is called. Without a user in the URL it writes nothing.
// fault.ErrFolder: the file cannot be written.
func (m command) writeCredentials() (remove func(), err error) {
	if m.credentialHelper() != userHelper {
		return func() {}, nil
	}
	path := filepath.Join(m.store.Dir, m.id+credentialsSuffix)
	password, _ := m.src.user.Password()
	text := "username=" + m.src.user.Username() + "\npassword=" + password + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("mirror %s: %w: %w", m.id, fault.ErrFolder, err)
	}
	return func() { os.Remove(path) }, nil
}

// quoted returns value as a file of git's configuration has it, in quotes and escaped.
func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(value) + `"`
}
