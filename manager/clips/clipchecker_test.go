package clips

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/clips/cliplint"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// melody is a WAV of plucked notes at 8 kHz.
func melody(seed uint64, seconds float64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, int(seconds*8000))
	for at := 0; at < len(x); at += 1000 {
		f := 200 * math.Pow(2, 3*r.Float64())
		for i := at; i < min(len(x), at+3000); i++ {
			t := float64(i-at) / 8000
			x[i] += .2 * math.Exp(-8*t) * (math.Sin(2*math.Pi*f*t) + .5*math.Sin(4*math.Pi*f*t))
		}
	}
	return wav8k(x)
}

func wav8k(x []float64) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte("RIFF"), uint32(36+2*len(x)))
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data"...)
	b = le.AppendUint32(b, uint32(2*len(x)))
	for _, v := range x {
		b = le.AppendUint16(b, uint16(int16(30000*v)))
	}
	return b
}

func TestClipsThatAreNotFoundOrTwiceAreNamedWhenCurated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := melody(1, 6)
	files := map[string][]byte{
		"whole.wav": whole, "other.wav": melody(2, 3),
		"silence.wav": wav8k(make([]float64, 8000)), "blip.wav": melody(3, .1),
		"part.wav": append(append([]byte{}, wav8k(make([]float64, 16000))[:44]...), whole[44+2*16000:44+4*16000]...),
	}
	for name, b := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	l := lister(t, models.Origin{ID: "o", Kind: models.Clips, URI: dir})
	o := models.Origin{ID: "o", Kind: models.Clips, URI: dir}

	named := func() (clips []string, problems map[string]string) {
		listing, err := l.List(t.Context(), o)
		require.NoError(t, err)
		problems = map[string]string{}
		for _, c := range listing.Clips {
			clips = append(clips, c.Name)
		}
		for _, p := range listing.Problems {
			problems[p.Item] = p.Reason
		}
		return clips, problems
	}
	clips, problems := named()
	require.Equal(t, []string{"other.wav", "part.wav", "whole.wav"}, clips, "clips with lesser faults are still searched for")
	require.Len(t, problems, 3)
	require.Contains(t, problems["silence.wav"], "silent: nothing to look for; ")
	require.Contains(t, problems["blip.wav"], "too short: ")
	require.Contains(t, problems["part.wav"], "contained: part of whole.wav, at 2.00 s")

	again, same := named()
	require.Equal(t, clips, again)
	require.Equal(t, problems, same)

	repaired := filepath.Join(dir, "silence.wav")
	require.NoError(t, os.WriteFile(repaired, melody(4, 2), 0o600))
	require.NoError(t, os.Chtimes(repaired, time.Time{}, time.Now().Add(time.Hour)))
	clips, problems = named()
	require.Contains(t, clips, "silence.wav")
	require.NotContains(t, problems, "silence.wav")
}

func TestAClipThatCannotBeFetchedIsNotCheckedAsSilence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := &folderVisit{fetch: lister(t, models.Origin{ID: "o", Kind: models.Clips, URI: dir}).Fetch}
	_, err := v.load(t.Context(), models.MediaRef{URI: fetch.FileURI(filepath.Join(dir, "gone.wav"))})
	require.ErrorIs(t, err, fault.ErrNotFound)
}

func TestClipsWhoseCheckEndsEarlyAreNoListing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 3 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".wav")), melody(uint64(i), 1), 0o600))
	}
	o := models.Origin{ID: "o", Kind: models.Clips, URI: dir}
	l := lister(t, o)
	listing, err := l.List(t.Context(), o)
	require.NoError(t, err)
	require.Len(t, listing.Clips, 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v := &folderVisit{origin: o}
	clips, err := v.checkClips(ctx, &clipChecker{}, listing.Clips)
	require.ErrorIs(t, err, context.Canceled, "or a complete listing without these clips would make them gone")
	require.Empty(t, clips)
}

func TestClipsAreEqualOnlyIfBothHaveTheSameHash(t *testing.T) {
	t.Parallel()
	clip := func(name, hash string) models.Clip {
		return models.Clip{Recording: models.Recording{Name: name, Media: models.MediaRef{Hash: hash}}}
	}
	clips := []models.Clip{clip("a", "1"), clip("b", "1"), clip("c", "2"), clip("d", ""), clip("e", "")}
	for pair, want := range map[[2]string]bool{
		{"a", "b"}: true, {"b", "a"}: true, {"a", "c"}: false, {"a", "d"}: false, {"d", "a"}: false, {"d", "e"}: false, {"a", "x"}: false, {"x", "y"}: false,
	} {
		require.Equal(t, want, equal(clips, pair[0], pair[1]), "%v", pair)
	}
}

func TestOnlyTheFirstClipsAreComparedAndTheReportOfClipsIsKept(t *testing.T) {
	t.Parallel()
	var clips []models.Clip
	for i := range compareLimit + 1 {
		clips = append(clips, models.Clip{Recording: models.Recording{Name: fmt.Sprint(i)}})
	}
	kept := []cliplint.Notice{{Clip: "0", Fault: cliplint.Silent}, {Clip: "1", Fault: cliplint.Contained, Other: "2"}}
	for length, problems := range map[int]int{compareLimit: 2, compareLimit + 1: 3} {
		c := &clipChecker{known: map[string]cachedReport{"o": {digestOf(clips[:compareLimit]), kept}}}
		v := &folderVisit{origin: models.Origin{ID: "o"}}
		left, err := v.checkClips(t.Context(), c, slices.Clone(clips[:length]))
		require.NoError(t, err)
		require.Len(t, left, length-1, "only the silent clip is not looked for")
		require.Equal(t, "1", left[0].Name)
		require.Len(t, v.problems.list, problems)
	}
	changed := []models.Clip{{Recording: models.Recording{Name: "a", Media: models.MediaRef{Version: "1"}}}}
	require.NotEqual(t, digestOf(changed), digestOf([]models.Clip{{Recording: models.Recording{Name: "a", Media: models.MediaRef{Version: "2"}}}}))
}

func TestClipsThatSoundTheSameAreNamedUnlessTheyAreEqualFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sound := melody(1, 2)
	for name, content := range map[string][]byte{"a.wav": sound, "b.wav": sound, "c.wav": append(slices.Clone(sound), "LIST\x04\x00\x00\x00abcd"...)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	l := list(t, models.Clips, dir)
	require.Equal(t, []string{"a.wav", "b.wav", "c.wav"}, names(l))
	require.NotEmpty(t, l.Problems)
	for _, p := range l.Problems {
		require.Equal(t, "c.wav", p.Item)
		require.Contains(t, p.Reason, "duplicate")
	}
}
