package decode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-audio/audio"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

// header is the header of a WAV of floats at 8 kHz, as ffmpeg writes it to a pipe, escaped for printf.
const header = `RIFF\377\377\377\377WAVEfmt \020\000\000\000\003\000\001\000\100\037\000\000\000\175\000\000\004\000\040\000data\377\377\377\377`

// fake puts a shell script in the place of ffmpeg. Tests that use it are not
// parallel, because they change the PATH of the process.
func fake(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ffmpeg"), []byte("#!/bin/sh\ncase \"$*\" in *-version) exit 0;; esac\n"+script), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// ogg decodes a file that only ffmpeg can decode.
func ogg(t *testing.T, ctx context.Context, stall time.Duration) (frames int64, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.ogg")
	require.NoError(t, os.WriteFile(path, []byte("OggS, for all that anybody looks at"), 0o600))
	s, err := Decoder{stall: stall}.Open(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { require.NoError(t, s.Close()) }()
	for buf := (&audio.Float32Buffer{Data: make([]float32, 4096)}); ; {
		if _, err = s.Read(buf); err != nil {
			return s.Frames(), err
		}
	}
}

func TestWhatAChildDoesIsNoHarm(t *testing.T) {
	for _, c := range []struct {
		name, script string
		stall        time.Duration
		kind         error
		says         string
	}{
		{"it exits with an error", "echo some complaint >&2; exit 3", 0, fault.ErrCorrupt, "ffmpeg cannot decode it (exit status 3): some complaint"},
		{"it exits in the middle", "printf '" + header + "\\000\\000\\000\\000'; echo lost >&2; exit 1", 0, fault.ErrCorrupt, "lost"},
		{"it is killed", "kill -9 $$", 0, nil, "signal: killed"},
		{"it writes nothing", "exit 0", 0, fault.ErrCorrupt, "ends before its sound"},
		{"it writes text", "echo hello, this text has no sound", 0, nil, "its output is not a WAV"},
		{"it hangs before the header", "exec sleep 1000", 100 * time.Millisecond, errStalled, "it gave nothing for too long"},
		{"it hangs in the middle", "printf '" + header + "\\000\\000\\000\\000'; exec sleep 1000", 100 * time.Millisecond, errStalled, "it gave nothing for too long"},
		{"it hangs at the end", "printf '" + header + "\\000\\000\\000\\000'; exec >&-; exec sleep 1000", 100 * time.Millisecond, errStalled, "it gave nothing for too long"},
		{"what it started hangs", "printf '" + header + "'; sleep 1000 & exit 0", 100 * time.Millisecond, errStalled, "it gave nothing for too long"},
		{"it floods", "printf '" + header + "'; exec cat /dev/zero", 0, fault.ErrTooLarge, "more than 1m35s of sound"},
		{"it floods with complaints", "yes complaint | head -c 3000000 >&2; exit 1", 0, fault.ErrCorrupt, "complaint"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake(t, c.script)
			_, err := ogg(t, t.Context(), c.stall)
			require.ErrorContains(t, err, c.says)
			if c.kind != nil {
				require.ErrorIs(t, err, c.kind)
			}
			require.Less(t, len(err.Error()), 2*maxStderr)
		})
	}
}

func TestAChildIsKilledWithAllThatItStarted(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", pids).Run())
	fake(t, "sleep 1000 & echo $! > "+pids+"; printf '"+header+"'; wait")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := ogg(t, ctx, 0)
		ended <- err
	}()
	b, err := os.ReadFile(pids)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Eventually(t, func() bool { return gone(pid) }, time.Minute, time.Millisecond)
}

// gone reports whether a process has ended. A zombie that its new parent has not
// reaped yet counts as ended.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

func TestMP3ThroughAChildThatDoesNotReadItsInput(t *testing.T) {
	frames, err := os.ReadFile("testdata/seed.mp3")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "a.mp3")
	for range 10 { // more than a pipe holds
		frames = append(frames, frames...)
	}
	require.NoError(t, os.WriteFile(path, frames, 0o600))
	fake(t, "echo no >&2; exit 1")
	_, err = Open(t.Context(), path)
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorContains(t, err, "no")
}

// TestDamageIsCountedInTheWordsOfEveryFFmpeg has a fake ffmpeg print the same error for 12
// frames, in the words of one version after the other.
func TestDamageIsCountedInTheWordsOfEveryFFmpeg(t *testing.T) {
	frames, err := os.ReadFile("testdata/seed.mp3")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "a.mp3")
	require.NoError(t, os.WriteFile(path, bytes.Repeat(frames, 20), 0o600))
	for _, words := range []string{
		"Error while decoding stream #0:0: Invalid data found when processing input",
		"[dec:mp3float @ 0x5581] Error submitting packet to decoder: Invalid data found when processing input",
		"[dec:mp3float @ 0x5581] Decoding error: Invalid data found when processing input",
	} {
		fake(t, "cat > /dev/null; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo '"+words+"' >&2; done; printf '"+header+"\\000\\000\\000\\000'")
		s, err := Open(t.Context(), path)
		require.NoError(t, err)
		buf := &audio.Float32Buffer{Data: make([]float32, 4096)}
		for err == nil {
			_, err = s.Read(buf)
		}
		require.ErrorIs(t, err, fault.ErrCorrupt, words)
		require.ErrorContains(t, err, "damaged: 12 of the ")
		require.NoError(t, s.Close())
	}
}

func TestThePathIsNotToldInTheWordsOfAnyFFmpeg(t *testing.T) {
	t.Parallel()
	for says, want := range map[string]string{
		"file:/tmp/a b.ogg: End of file\n": "End of file",
		"[in#0 @ 0x55] Error opening input: End of file\nError opening input file file:/tmp/a b.ogg.\n": "[in#0] Error opening input: End of file Error opening input file.",
	} {
		c := child{stderr: tail{b: []byte(says)}}
		require.Equal(t, want, c.lastLines("/tmp/a b.ogg"))
	}
}

func TestTheTailOfComplaintsIsKept(t *testing.T) {
	t.Parallel()
	var all bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&all, "line %d Error while decoding stream\n", i)
	}
	for _, piece := range []int{1, 7, 100, 4095, 32 << 10, all.Len()} {
		var c tail
		for part := range slices.Chunk(all.Bytes(), piece) {
			n, err := c.Write(part)
			require.NoError(t, err)
			require.Equal(t, len(part), n)
		}
		require.LessOrEqual(t, len(c.String()), maxStderr)
		require.True(t, strings.HasSuffix(c.String(), "line 9999 Error while decoding stream\n"))
		require.Equal(t, int64(10_000), c.bad, "in pieces of %d", piece)
	}
}

// A busy machine may need longer to start a program than findFFmpeg waits.
func TestAnFFmpegThatDoesNotAnswerInTimeIsAskedAgain(t *testing.T) {
	dir := t.TempDir()
	ffmpeg := filepath.Join(dir, "ffmpeg")
	require.NoError(t, os.WriteFile(ffmpeg, []byte("#!/bin/sh\nexec sleep 60"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	bin, ok := Decoder{stall: time.Millisecond}.findFFmpeg()
	require.True(t, ok, "it may only be slow")
	require.Equal(t, ffmpeg, bin)
	require.NoError(t, os.WriteFile(ffmpeg, []byte("#!/bin/sh\nexit 127"), 0o755))
	_, ok = Decoder{}.findFFmpeg()
	require.False(t, ok)
}

func TestAnFFmpegThatDoesNotRunIsTreatedAsAbsent(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ffmpeg"), []byte("#!/bin/sh\necho libavcodec.so.59: cannot open >&2\nexit 127"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	_, err := ogg(t, t.Context(), 0)
	require.ErrorIs(t, err, fault.ErrNotFound)
	s, err := Open(t.Context(), "testdata/seed.mp3")
	require.NoError(t, err, "this program decodes it")
	require.NoError(t, s.Close())
	require.Equal(t, "this program", Formats()[3].By)
}
