package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// sshServer is a repository behind ssh, to which the command ssh connects.
type sshServer struct {
	library  library
	process  *exec.Cmd
	in       io.WriteCloser
	out      io.ReadCloser
	messages *tail
	cancel   context.CancelFunc
	ended    bool // process was waited for; its error was returned
}

// sshScript runs the configured command, which is for a shell, with arguments that the
// shell does not read.
const sshScript = ` "$@"`

// advertise starts ssh, and returns its output, which begins with the list of refs. ssh runs
// until close; stopping ctx kills it. Without a shell the error is errNeedsGit; if ssh cannot be
// started, fault.ErrUnavailable.
func (s *sshServer) advertise(ctx context.Context) (io.ReadCloser, error) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		return nil, needsGit("a repository behind ssh, on a machine without a shell,")
	}
	run, cancel := context.WithCancel(ctx)
	c := exec.CommandContext(run, shell, append([]string{"-c", s.library.store.SSH + sshOptions + sshScript, "sh"}, s.arguments()...)...)
	c.Dir, c.Env = s.library.store.Dir, append(command{s.library.Mirror}.environment(), "GIT_PROTOCOL=")
	c.WaitDelay = killAfter
	platform.KillWithChildren(c)
	s.messages = &tail{}
	c.Stderr = s.messages
	in, inErr := c.StdinPipe()
	out, outErr := c.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		cancel()
		return nil, fmt.Errorf("ssh: %w: %w", fault.ErrUnavailable, err)
	}
	if err := c.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("ssh: %w: %w", fault.ErrUnavailable, err)
	}
	s.process, s.in, s.out, s.cancel = c, in, out, cancel
	return sshAnswer{s, ctx}, nil
}

// arguments returns those of ssh: the port, the host and the command that the server runs. Its
// shell reads the path between single quotes, so a quote in the path ends them, stands behind a
// backslash, and begins them again. A path of /~ is in a home folder.
func (s *sshServer) arguments() []string {
	u := s.library.src.url
	var args []string
	if port := u.Port(); port != "" {
		args = append(args, "-p", port)
	}
	host := u.Hostname()
	if name := u.User.Username(); name != "" {
		host = name + "@" + host
	}
	path := u.Path
	if strings.HasPrefix(path, "/~") {
		path = path[1:]
	}
	return append(args, host, "git-upload-pack '"+strings.ReplaceAll(path, "'", `'\''`)+"'")
}

// upload sends a request, and returns the output of ssh, which goes on with the answer. If ssh does
// not take the request, it has ended, and the error is its reason (endProcess).
func (s *sshServer) upload(ctx context.Context, request []byte) (io.ReadCloser, error) {
	if _, err := s.in.Write(request); err != nil {
		return nil, s.endProcess(ctx, err)
	}
	return sshAnswer{s, ctx}, nil
}

// endProcess closes the input of ssh, waits until it ends, and returns its failure with the reason
// that it printed. If ssh succeeded, or endProcess was called before, it returns err. gitError
// gives the kind.
func (s *sshServer) endProcess(ctx context.Context, err error) error {
	if s.ended {
		return err
	}
	s.ended = true
	_ = s.in.Close() // it may be closed
	if failed := s.process.Wait(); failed != nil {
		return &sshError{gitError(ctx, "over ssh", failed, s.messages)}
	}
	return err
}

// sshError is the error of an ssh that has ended, with what it printed.
type sshError struct{ error }

func (e *sshError) Unwrap() error { return e.error }

// close ends ssh and waits for it. Its failure is not returned, because its answer was read, or
// its failure is returned already.
func (s *sshServer) close() {
	if s.process == nil {
		return
	}
	s.cancel()
	_ = s.endProcess(context.Background(), nil)
}

// sshAnswer reads the output of ssh. If ssh failed, the end of its output is that error instead of
// io.EOF.
type sshAnswer struct {
	server *sshServer
	ctx    context.Context
}

// Read reads ssh's output. At its end it waits for ssh and returns why it ended, because a failed ssh
// ends its output too; io.EOF is returned only if ssh succeeded.
func (a sshAnswer) Read(p []byte) (int, error) {
	n, err := a.server.out.Read(p)
	if n == 0 && errors.Is(err, io.EOF) {
		return 0, a.server.endProcess(a.ctx, err)
	}
	return n, err
}

func (a sshAnswer) Close() error { return nil }
