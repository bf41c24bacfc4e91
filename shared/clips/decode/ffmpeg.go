package decode

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strings"
	"sync"
	"time"

	"leasehold/shared/fault"
)

const (
	// maxFFmpegAlloc bounds one allocation of ffmpeg. Audio needs a few MiB.
	maxFFmpegAlloc = "268435456"
	// soundPerByte and soundSlack bound how much sound a file may decode to. Silence
	// is the densest, at half a second a byte.
	soundPerByte = time.Second
	soundSlack   = time.Minute
	// fillGaps makes ffmpeg insert silence where it could not decode, so that the sound
	// after a gap keeps its position.
	fillGaps = "aresample=async=1:min_hard_comp=0.001"
)

// ffmpegSource reads the WAV that a child ffmpeg writes to a pipe.
type ffmpegSource struct {
	*wavSource
	child *child
	path  string
	limit time.Duration // of sound
	done  int64
}

// ffmpegInput is the input of a child ffmpeg.
type ffmpegInput struct {
	demuxer string
	path    string    // "" when it reads stdin
	stdin   io.Reader // frames of MP3, or a stream
	size    int64     // of the file
	closer  io.Closer // closed with the stream; may be nil
	filter  string
}

// newFFmpeg decodes an input with ffmpeg's demuxer of the given name. ffmpeg opens a file by its
// path, because some containers must be read with seeking; it reads a stream from stdin.
func (d Decoder) newFFmpeg(ctx context.Context, in *input, demuxer string) (*ffmpegSource, error) {
	if in.file != nil && !in.skipped {
		return d.ffmpeg(ctx, ffmpegInput{demuxer: demuxer, path: in.file.Name(), size: in.size, closer: in})
	}
	return d.ffmpeg(ctx, ffmpegInput{demuxer: demuxer, stdin: in, size: math.MaxInt64, closer: in})
}

// ffmpeg starts the child and reads the header of its output. The source that it returns owns
// in.closer. When ffmpeg returns an error, the child has ended, and the caller must close
// in.closer. Errors: fault.ErrNotFound if no ffmpeg is installed (or WithoutFFmpeg is set),
// fault.ErrCorrupt if ffmpeg cannot decode the input, and errors of the system and of ctx. If
// the child failed, its error is returned and not the missing header, because it tells why.
func (d Decoder) ffmpeg(ctx context.Context, in ffmpegInput) (*ffmpegSource, error) {
	bin, ok := d.findFFmpeg()
	if !ok {
		return nil, &Error{fault.ErrNotFound, fmt.Sprintf("a file of format %s needs ffmpeg, which is not installed", in.demuxer)}
	}
	stall := d.stall
	if stall == 0 {
		stall = defaultStall
	}
	c, err := start(ctx, bin, in.args(), in.stdin, stall)
	if err != nil {
		return nil, err
	}
	s := &ffmpegSource{child: c, path: in.path, limit: soundSlack + time.Duration(min(in.size, int64(maxDuration/soundPerByte)))*soundPerByte}
	s.wavSource = &wavSource{r: bufio.NewReaderSize(c, blockBytes), closer: in.closer, left: -1}
	if _, err := s.readHeader(); err != nil {
		_ = c.out.Close() // so that a child that still writes ends
		if waitErr := s.wait(); waitErr != nil && !errors.Is(err, errStalled) {
			err = waitErr
		}
		if errors.Is(err, errNeedsFFmpeg) {
			err = errors.New("ffmpeg: its output is not a WAV")
		}
		return nil, err
	}
	return s, nil
}

// findFFmpeg looks for ffmpeg in the PATH. ok is false if there is none, if it does not run, for
// example because it lacks a library, or if WithoutFFmpeg is set. Each path is tried until it has
// answered once in this process. One that does not answer in time counts as running, because the
// machine may only be slow, and an episode that needs ffmpeg would become a problem.
func (d Decoder) findFFmpeg() (bin string, ok bool) {
	if d.WithoutFFmpeg {
		return "", false
	}
	bin, err := exec.LookPath("ffmpeg")
	if err != nil {
		return "", false
	}
	runs, known := ffmpegRuns.Load(bin)
	if !known {
		_, err := runFFmpeg(context.Background(), bin, cmp.Or(d.stall, versionTime), "-version")
		if errors.Is(err, errStalled) {
			return bin, true
		}
		runs, _ = ffmpegRuns.LoadOrStore(bin, err == nil)
	}
	return bin, runs.(bool)
}

// ffmpegRuns maps the path of each ffmpeg that was found to whether it runs.
var ffmpegRuns sync.Map

// args returns ffmpeg's arguments, which let it read this one input and write this one pipe,
// because a playlist in the file could name others. With repeat, it prints an error as often as
// it occurs, because tail counts them.
func (in ffmpegInput) args() []string {
	protocol, input := "file", "file:"+in.path
	if in.stdin != nil {
		protocol, input = "pipe", "pipe:0"
	}
	args := []string{"-hide_banner", "-v", "repeat+error", "-threads", "1", "-max_alloc", maxFFmpegAlloc,
		"-protocol_whitelist", protocol, "-f", in.demuxer, "-i", input}
	if in.stdin == nil {
		args = append([]string{"-nostdin"}, args...)
	}
	if in.filter != "" {
		args = append(args, "-af", in.filter)
	}
	return append(args, "-map", "0:a:0", "-vn", "-sn", "-dn", "-bitexact", "-c:a", "pcm_f32le",
		"-protocol_whitelist", "pipe", "-f", "wav", "pipe:1")
}

// read reads from wavSource. It ends the child if it makes more sound than the file can hold,
// because a damaged file could make it run for ever, and reports at the end how the child ended.
func (s *ffmpegSource) read(dst []float32) (int, error) {
	n, err := s.wavSource.read(dst)
	s.done += int64(n)
	if at := span(s.done, s.rate); at > s.limit {
		s.child.end()
		return 0, tooLarge("ffmpeg makes more than %v of sound of it", s.limit)
	}
	if errors.Is(err, io.EOF) {
		if waitErr := s.wait(); waitErr != nil {
			return n, waitErr
		}
	}
	return n, err
}

// wait reaps the child, and returns an error if it failed or found the input truncated:
// fault.ErrCorrupt if the input is the cause, else an error of the system or the context.
func (s *ffmpegSource) wait() error {
	err := s.child.wait()
	lines := s.child.lastLines(s.path)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited():
		return corrupt("ffmpeg cannot decode it (%v): %s", exit, lines)
	case err != nil:
		return fmt.Errorf("ffmpeg: %w: %s", err, lines)
	case strings.Contains(lines, "partial file"), strings.Contains(lines, "runcat"):
		return corrupt("truncated: the sound breaks off at %s (ffmpeg: %s)", clock(span(s.done, s.rate)), lines)
	}
	return nil
}

// damages returns how many frames could not be decoded. The child must have been waited for.
func (s *ffmpegSource) damages() int64 { return s.child.stderr.bad }

// close ends the child and closes the input, whose error it returns.
func (s *ffmpegSource) close() error {
	s.child.end()
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}
