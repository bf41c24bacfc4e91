package decode

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"leasehold/shared/fault"
)

const (
	maxStderr = 4096 // bytes of ffmpeg's complaints that are kept: the last ones
	// maxFFmpegAlloc bounds one allocation of ffmpeg. Audio needs a few MiB.
	maxFFmpegAlloc = "268435456"
	killAfter      = 5 * time.Second // from the end of ctx until its pipes are closed
)

// ffmpegSource reads the WAV that a child ffmpeg writes to a pipe.
type ffmpegSource struct {
	*wavSource
	ctx    context.Context
	cmd    *exec.Cmd
	cancel context.CancelFunc
	path   string
	stderr tail
	waited bool
	done   int64
}

// newFFmpeg decodes f, whose demuxer has the given name. It opens the file by its
// path, since some containers must be read with seeking.
func newFFmpeg(ctx context.Context, f *os.File, demuxer string) (*ffmpegSource, error) {
	bin, err := exec.LookPath("ffmpeg")
	if err != nil {
		return nil, &Error{fault.ErrNotFound, fmt.Sprintf("a file of format %s needs ffmpeg, which is not installed", demuxer)}
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &ffmpegSource{ctx: ctx, cancel: cancel, path: f.Name()}
	s.cmd = exec.CommandContext(ctx, bin,
		"-nostdin", "-hide_banner", "-v", "error", "-threads", "1", "-max_alloc", maxFFmpegAlloc,
		"-protocol_whitelist", "file", "-f", demuxer, "-i", "file:"+f.Name(),
		"-map", "0:a:0", "-vn", "-sn", "-dn", "-bitexact", "-c:a", "pcm_f32le",
		"-protocol_whitelist", "pipe", "-f", "wav", "pipe:1")
	s.cmd.Stderr = &s.stderr
	s.cmd.WaitDelay = killAfter
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("ffmpeg: %w", err)
	}
	s.wavSource = &wavSource{r: bufio.NewReaderSize(out, blockBytes), closer: f, left: -1}
	if _, _, err := s.readHeader(); err != nil {
		_ = out.Close() // so that a child that still writes ends
		if waitErr := s.wait(); waitErr != nil && errors.Is(err, fault.ErrCorrupt) {
			err = waitErr // it says why there is no header
		}
		cancel()
		return nil, err
	}
	return s, nil
}

func (s *ffmpegSource) read(dst []float32) (int, error) {
	n, err := s.wavSource.read(dst)
	s.done += int64(n)
	if errors.Is(err, io.EOF) {
		if waitErr := s.wait(); waitErr != nil {
			return n, waitErr
		}
	}
	return n, err
}

// wait reaps the child and judges how it ended.
func (s *ffmpegSource) wait() error {
	if s.waited {
		return nil
	}
	s.waited = true
	err := s.cmd.Wait()
	said := s.said()
	var exit *exec.ExitError
	switch {
	case s.ctx.Err() != nil:
		return fmt.Errorf("ffmpeg: %w", context.Cause(s.ctx))
	case errors.As(err, &exit):
		return corrupt("ffmpeg cannot decode it (%v): %s", exit, said)
	case err != nil:
		return fmt.Errorf("ffmpeg: %w: %s", err, said)
	case strings.Contains(said, "partial file"), strings.Contains(said, "runcat"):
		return corrupt("truncated: the sound breaks off at %s (ffmpeg: %s)", clock(span(s.done, s.rate)), said)
	}
	return nil
}

// addresses are how ffmpeg tells its objects apart.
var addresses = regexp.MustCompile(` @ 0x[0-9a-f]+`)

// said is what ffmpeg complained of, without the file's path, which is ours and
// not the user's.
func (s *ffmpegSource) said() string {
	said := strings.ReplaceAll(s.stderr.String(), "file:"+s.path+": ", "")
	return addresses.ReplaceAllString(strings.Join(strings.Fields(said), " "), "")
}

func (s *ffmpegSource) close() error {
	s.cancel()
	if !s.waited {
		s.waited = true
		_ = s.cmd.Wait() // it was killed: how it ended tells nothing
	}
	return s.closer.Close()
}

// tail keeps the last maxStderr bytes written to it.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p[max(0, len(p)-maxStderr):]...)
	t.b = t.b[max(0, len(t.b)-maxStderr):]
	return len(p), nil
}

func (t *tail) String() string { return string(t.b) }
