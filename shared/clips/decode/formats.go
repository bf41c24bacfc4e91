package decode

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"leasehold/shared/fault"
)

// Format is a file format, and the program that decodes it on this machine.
type Format struct {
	Name string
	By   string // "" if there is none
	Note string
}

// FFmpeg describes an installed ffmpeg.
type FFmpeg struct {
	Path    string
	Version string   // as ffmpeg prints it
	Lacks   []string // the decoders in wanted that it was built without
}

// wanted are the decoders that an ffmpeg should have, by ffmpeg's names.
var wanted = []string{"mp3float", "vorbis", "opus", "aac", "alac", "wavpack"}

// versionTime is how long ffmpeg may print nothing when runFFmpeg waits for its answer.
const versionTime = 10 * time.Second

// FindFFmpeg runs the ffmpeg in the PATH to get its version and decoders. It returns
// fault.ErrNotFound if there is none, and any other error if ffmpeg does not work.
func FindFFmpeg(ctx context.Context) (FFmpeg, error) {
	bin, err := exec.LookPath("ffmpeg")
	if err != nil {
		return FFmpeg{}, fmt.Errorf("ffmpeg: not in the PATH: %w", fault.ErrNotFound)
	}
	version, err := runFFmpeg(ctx, bin, versionTime, "-version")
	if err != nil {
		return FFmpeg{Path: bin}, err
	}
	f := FFmpeg{Path: bin}
	first, _, _ := strings.Cut(version, "\n")
	f.Version, _, _ = strings.Cut(strings.TrimPrefix(first, "ffmpeg version "), " ")
	if f.Version == "" {
		return f, errors.New("ffmpeg: it does not say its version")
	}
	decoders, err := runFFmpeg(ctx, bin, versionTime, "-hide_banner", "-decoders")
	if err != nil {
		return f, err
	}
	there := map[string]bool{}
	for line := range strings.Lines(decoders) {
		if fields := strings.Fields(line); len(fields) > 1 {
			there[fields[1]] = true
		}
	}
	for _, name := range wanted {
		if !there[name] {
			f.Lacks = append(f.Lacks, name)
		}
	}
	return f, nil
}

// runFFmpeg runs ffmpeg and returns at most maxAnswer bytes of its output. The error is errStalled, or
// how ffmpeg ended, with the last lines of its stderr. It waits at most limit for each part of the
// output.
func runFFmpeg(ctx context.Context, bin string, limit time.Duration, args ...string) (string, error) {
	c, err := start(ctx, bin, append([]string{"-nostdin"}, args...), nil, limit)
	if err != nil {
		return "", err
	}
	defer c.end()
	answer := make([]byte, maxAnswer)
	n := 0
	for n < len(answer) && err == nil {
		var k int
		k, err = c.Read(answer[n:])
		n += k
	}
	if errors.Is(err, errStalled) {
		return "", err
	}
	if err := c.wait(); err != nil {
		return "", fmt.Errorf("ffmpeg %s: %w: %s", strings.Join(args, " "), err, c.lastLines(""))
	}
	return string(answer[:n]), nil
}

const maxAnswer = 1 << 20

const (
	rest     = "other formats"
	examples = "Ogg Vorbis, Opus, M4A, AAC, Matroska, WebM, MP4, CAF, WMA, AMR, WavPack, APE, TTA"
)

// Formats lists the formats, with the program that decodes each on this machine; the last stands
// for all other formats, without a program if ffmpeg is not there.
func Formats() []Format {
	_, there := Decoder{}.findFFmpeg()
	own := []Format{{"WAV", "this program", ""}, {"AIFF", "this program", ""}, {"FLAC", "this program", ""}}
	if there {
		return append(own, Format{"MP3", "ffmpeg", "five times as fast as this program"}, Format{rest, "ffmpeg", examples})
	}
	return append(own,
		Format{"MP3", "this program", "slowly; not at 8,000 Hz, at 22,050 Hz with 160 kbit/s, nor layers I and II"},
		Format{rest, "", examples})
}
