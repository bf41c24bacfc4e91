package decode_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/decode"
)

func TestZerosBeforeTheSoundAreSkipped(t *testing.T) {
	t.Parallel()
	zeros := make([]byte, 700_000)
	for _, name := range []string{"a.mp3", "a.flac", "a.wav", "a.ogg", "a.aac"} {
		b := made(t, name)
		want, err := all(t.Context(), write(t, name, b))
		require.NoError(t, err)
		got, err := all(t.Context(), write(t, name, slices.Concat(zeros, b)))
		require.NoError(t, err, name)
		require.Equal(t, len(want), len(got), name)
		sameSound(t, want, got, sameDecoder)
	}
	mp3 := write(t, "a.mp3", slices.Concat(zeros, made(t, "a.mp3")))
	_, err := without(t, mp3)
	require.ErrorContains(t, err, "EOF")
}

func TestTheTracksOfAFileAreCounted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := filepath.Join(dir, "src.wav")
	tool(t, "sox", "-R", "-n", "-r", "44100", src, "synth", "1", "sine", "440")
	for _, c := range []struct {
		name string
		args []string
		want int
	}{
		{"one.m4a", nil, 1},
		{"two.m4a", []string{"-map", "0", "-map", "1"}, 2},
		{"three.mka", []string{"-map", "0", "-map", "1", "-map", "0"}, 3},
		{"one.mp3", nil, 1},
		{"one.ogg", nil, 1},
		{"two.ogg", []string{"-map", "0", "-map", "1"}, 2},
	} {
		path := filepath.Join(dir, c.name)
		tool(t, "ffmpeg", slices.Concat([]string{"-v", "error", "-i", src, "-i", src}, c.args, []string{path})...)
		s, err := decode.Open(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, c.want, s.Tracks(), c.name)
		require.NoError(t, s.Close())
	}
}

// Without a header that states it, no decoder knows the encoder's delay, and no player removes it. So the place of a
// sound is where a player plays it: 1,105 samples late.
func TestAnMP3WithoutAHeaderIsLateByTheDelayOfItsEncoder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rate string
		args       []string
		late       float64 // seconds
	}{
		{"CBR, 44.1 kHz", "44100", []string{"-b", "128"}, .0251},
		{"VBR, 44.1 kHz", "44100", []string{"-V", "4"}, .0251},
		{"VBR, 48 kHz", "48000", []string{"-V", "4"}, .0230},
		{"VBR, 32 kHz", "32000", []string{"-V", "4"}, .0345},
		{"VBR, 22.05 kHz", "22050", []string{"-V", "6"}, .0501},
		{"VBR, 16 kHz", "16000", []string{"-V", "6"}, .0691},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			khz := c.rate[:len(c.rate)-3] + "." + c.rate[len(c.rate)-3:]
			args := slices.Concat(c.args, []string{"--resample", khz})
			with, rate := decoded(t, decode.Decoder{}, bursts(t, part{c.rate, "1", "a.mp3", args}), "a.mp3")
			bare := bursts(t, part{c.rate, "1", "b.mp3", append(args, "-t")})
			for _, d := range []decode.Decoder{{}, {WithoutFFmpeg: true}} {
				got, _ := decoded(t, d, bare, "b.mp3")
				require.InDelta(t, c.late, onset(t, got, rate, 0)-onset(t, with, rate, 0), .001)
			}
		})
	}
}
