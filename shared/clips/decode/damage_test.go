package decode_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

// An episode is searched up to an error (package match), so an error at the end keeps all sound.
func TestDamagedFramesOfAnMP3AreSilenceAndCountedAtTheEnd(t *testing.T) {
	t.Parallel()
	b := slices.Clone(made(t, "a.mp3"))
	frames := mp3Frames(b)
	for _, at := range frames[20:35] {
		for i := at + 4; i < at+36; i++ {
			b[i] = 0xfe
		}
	}
	whole, err := all(t.Context(), write(t, "whole.mp3", made(t, "a.mp3")))
	require.NoError(t, err)
	path := write(t, "damaged.mp3", b)
	piped, pipedErr := all(t.Context(), path)
	plain, plainErr := without(t, path)
	for name, got := range map[string]struct {
		samples []float32
		err     error
	}{"ffmpeg": {piped, pipedErr}, "go-mp3": {plain, plainErr}} {
		require.ErrorIs(t, got.err, fault.ErrCorrupt, name)
		require.Regexp(t, `^damaged: 1[5-9] of the \d+ MP3 frames cannot be decoded, and are silence$`, got.err.Error(), name)
		require.InDelta(t, len(whole), len(got.samples), 1152, name)
		from := 45 * 1152
		sameSound(t, whole[from:from+10000], got.samples[from:from+10000], anotherDecoder)
	}
}

func TestAHoleInAnMP3IsSkippedAndReportedAtTheEnd(t *testing.T) {
	t.Parallel()
	mp3 := made(t, "a.mp3")
	frames := mp3Frames(mp3)
	for name, hole := range map[string][]byte{"zeros": make([]byte, 700_000), "text": bytes.Repeat([]byte("<p>not found</p>\n"), 43_000)} {
		path := write(t, "hole.mp3", slices.Concat(mp3[:frames[30]], hole, mp3[frames[30]:]))
		whole, err := all(t.Context(), write(t, "whole.mp3", mp3))
		require.NoError(t, err)
		piped, pipedErr := all(t.Context(), path)
		plain, plainErr := without(t, path)
		for _, err := range []error{pipedErr, plainErr} {
			require.ErrorIs(t, err, fault.ErrCorrupt, name)
			require.Regexp(t, `^damaged: no MP3 frame in (700000|731\d\d\d) bytes after 0:00\.\d\d, which were skipped$`, err.Error(), name)
		}
		require.InDelta(t, len(whole), len(piped), 3*1152, name)
		require.InDelta(t, len(whole), len(plain), 3*1152, name)
	}
}

func TestAnMP3WithoutFramesFor16MiBIsGivenUp(t *testing.T) {
	t.Parallel()
	mp3 := made(t, "a.mp3")
	_, err := without(t, write(t, "hole.mp3", slices.Concat(mp3, make([]byte, 17<<20), mp3)))
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorContains(t, err, "damaged: no MP3 frame in the 16777216 bytes after 0:0")
}
