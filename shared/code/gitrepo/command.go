package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

const (
	killAfter   = 5 * time.Second // from the end of its context to the end of its pipes
	maxStderr   = 4 << 10         // bytes of git's messages that are kept: the last ones
	maxMessages = 2               // lines of them that an error quotes
)

// sshOptions end prompts, forwardings and unknown hosts.
const sshOptions = " -o BatchMode=yes -o StrictHostKeyChecking=yes -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ClearAllForwardings=yes -o PermitLocalCommand=no"

// command is a mirror that the git command copies and reads.
type command struct{ *Mirror }

// begin writes git's configuration and credentials to files; end removes the credentials.
func (m command) begin(ctx context.Context) (end func(), err error) {
	if err := m.writeConfig(ctx); err != nil {
		return nil, err
	}
	return m.writeCredentials()
}

// gitCommand returns a git command not started yet. It runs in its own process group, which is
// killed when ctx ends. The second result keeps its messages. Arguments must not come from outside,
// unless they stand behind -- or --end-of-options.
func (m command) gitCommand(ctx context.Context, args ...string) (*exec.Cmd, *tail) {
	c := exec.CommandContext(ctx, m.store.git, args...)
	c.Dir = m.store.Dir
	c.Env = m.environment()
	messages := &tail{}
	c.Stderr = messages
	c.WaitDelay = killAfter
	platform.KillWithChildren(c)
	return c, messages
}

// environment returns all variables of a git command. Of this process's it has only the
// search path and the agent with the user's SSH keys.
func (m command) environment() []string {
	s, src, config := m.store, m.src, m.config()
	env := []string{
		"LC_ALL=C", "HOME=" + s.Dir, "XDG_CONFIG_HOME=" + s.Dir,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + config, "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never",
		"GIT_ALLOW_PROTOCOL=" + src.protocols(), "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_SSH_COMMAND=" + s.SSH + sshOptions,
		"GIT_SSH_VARIANT=ssh", "GIT_OPTIONAL_LOCKS=0",
	}
	for _, name := range []string{"PATH", "SSH_AUTH_SOCK", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	if src.url != nil {
		env = append(env, tokenFile+"="+s.Tokens[strings.ToLower(src.url.Hostname())],
			credentialsFile+"="+strings.TrimSuffix(config, configSuffix)+credentialsSuffix)
	}
	return env
}

// run runs git to its end with input as its standard input, and returns its output.
func (m command) run(ctx context.Context, input io.Reader, maxBytes int64, args ...string) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c, messages := m.gitCommand(ctx, args...)
	c.Stdin = input
	out := &limitedBuffer{max: maxBytes, full: func() {
		cancel(fmt.Errorf("git %s: %w: more than %d bytes", subcommand(args), fault.ErrTooLarge, maxBytes))
	}}
	c.Stdout = out
	if err := c.Run(); err != nil {
		return nil, gitError(ctx, subcommand(args), err, messages)
	}
	return out.Bytes(), nil
}

// subcommand returns the first argument other than an option, such as fetch; the first argument if
// all are options.
func subcommand(args []string) string {
	return args[max(0, slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") }))]
}

// gitError returns the error of the git command named what: the cause of ctx if that ended, else
// the summary of git's messages, or err if it printed none, with the kind that all messages
// describe. Secrets of URLs are removed.
func gitError(ctx context.Context, what string, err error, messages *tail) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text := messages.summary()
	if text == "" {
		text = err.Error()
	}
	return fmt.Errorf("git %s: %w: %s", what, kindOfMessage(string(messages.kept)), models.Redact(text))
}

// kindOfMessage returns the kind of error that a message of git or a server describes;
// fault.ErrUnavailable, which is tried again, for an unknown one.
func kindOfMessage(text string) error {
	text = strings.ToLower(text)
	for _, row := range messageKinds {
		if strings.Contains(text, row.text) {
			return row.kind
		}
	}
	return fault.ErrUnavailable
}

// messageKinds maps what git prints, in lower case, to the kinds of error; the first row
// that matches counts.
var messageKinds = []struct {
	text string
	kind error
}{
	{"authentication failed", fault.ErrForbidden},
	{"could not read username", fault.ErrForbidden},
	{"could not read password", fault.ErrForbidden},
	{"permission denied", fault.ErrForbidden},
	{"host key verification failed", fault.ErrForbidden},
	{"returned error: 403", fault.ErrForbidden},
	{"dubious ownership", fault.ErrForbidden},
	{"not found", fault.ErrNotFound},
	{"no such file or directory", fault.ErrNotFound},
	{"does not exist", fault.ErrNotFound},
	{"does not appear to be a git repository", fault.ErrNotFound},
	{"transport '", fault.ErrInvalid},
	{"no space left", fault.ErrOverloaded},
	{"corrupt", fault.ErrCorrupt},
	{"bad object", fault.ErrCorrupt},
	{"inflate", fault.ErrCorrupt},
	{"missing blob", fault.ErrCorrupt},
	{"unable to read", fault.ErrCorrupt},
	{"bad tree", fault.ErrCorrupt},
	{"not a tree object", fault.ErrCorrupt},
	{"not a valid object", fault.ErrCorrupt},
	{"pack has bad", fault.ErrCorrupt},
	{"bad pack", fault.ErrCorrupt},
	{"is far too short to be a packfile", fault.ErrCorrupt},
	{"cannot be accessed", fault.ErrCorrupt},
	{"bad shallow", fault.ErrCorrupt},
	{"upload-pack: not our ref", fault.ErrConflict},
	{"couldn't find remote ref", fault.ErrConflict},
}

// limitedBuffer keeps at most max bytes. A write that exceeds them calls full and fails.
type limitedBuffer struct {
	bytes.Buffer
	max  int64
	full func()
}

// Write keeps p. If more than max bytes would be kept, it calls full, which ends the command, and
// returns io.ErrShortWrite.
func (l *limitedBuffer) Write(p []byte) (int, error) {
	if int64(l.Len()+len(p)) > l.max {
		l.full()
		return 0, io.ErrShortWrite
	}
	return l.Buffer.Write(p)
}

// tail keeps the last maxStderr bytes that git prints.
type tail struct{ kept []byte }

// Write keeps the last maxStderr bytes of all. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-maxStderr):]...)
	t.kept = t.kept[max(0, len(t.kept)-maxStderr):]
	return len(p), nil
}

// summary returns the first maxMessages errors among the messages, or if there are none the last
// maxMessages lines, in one line. It replaces control characters and invalid UTF-8, because the
// server may have written them.
func (t *tail) summary() string {
	lines := strings.Split(strings.TrimSpace(string(t.kept)), "\n")
	errors := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return !strings.HasPrefix(line, "fatal: ") && !strings.HasPrefix(line, "error: ")
	})
	if len(errors) > 0 {
		lines = errors[:min(len(errors), maxMessages)]
	}
	text := strings.Join(lines[max(0, len(lines)-maxMessages):], " ")
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
