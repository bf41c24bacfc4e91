package decode_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/decode"
)

// part is one of several recordings that are joined to one file.
type part struct {
	rate, channels string
	name           string   // its extension is the format
	args           []string // of the encoder
}

// bursts encodes a recording of 1.5 s that is silent but for a tone from 0.5 to 0.8 s.
func bursts(t *testing.T, p part) []byte {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "src.wav"), filepath.Join(dir, p.name)
	tool(t, "sox", "-R", "-n", "-r", p.rate, "-c", p.channels, "-b", "16", src, "synth", "0.3", "sine", "700", "vol", "0.5", "pad", "0.5", "0.7")
	if filepath.Ext(p.name) == ".mp3" {
		tool(t, "lame", slices.Concat([]string{"--quiet"}, p.args, []string{src, out})...)
	} else {
		tool(t, "ffmpeg", slices.Concat([]string{"-v", "error", "-i", src}, p.args, []string{out})...)
	}
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	return b
}

// packets returns how many frames of sound an MP3 has.
func packets(t *testing.T, mp3 []byte) int {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", write(t, "a.mp3", mp3)).Output()
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.Trim(string(out), ",\n"))
	require.NoError(t, err)
	return n
}

// onset returns the second of the first sample that is loud, at or after the second from.
func onset(t *testing.T, samples []float32, rate int, from float64) float64 {
	t.Helper()
	for i := int(from * float64(rate)); i < len(samples); i++ {
		if samples[i] > .2 || samples[i] < -.2 {
			return float64(i) / float64(rate)
		}
	}
	t.Fatalf("nothing is loud after %v s", from)
	return 0
}

// decoded returns the samples of a file and their rate.
func decoded(t *testing.T, d decode.Decoder, content []byte, name string) ([]float32, int) {
	t.Helper()
	s, err := d.Open(t.Context(), write(t, name, content))
	require.NoError(t, err)
	rate := s.RateHz()
	samples, err := drained(s)
	require.NoError(t, err)
	return samples, rate
}

func TestSoundAfterAChangeOfRateOrChannelsKeepsItsPlace(t *testing.T) {
	t.Parallel()
	const (
		mp3Frame  = 1152      // samples
		lameDelay = 576 + 529 // of encoder and decoder
	)
	bare := []string{"-t", "-b", "128"} // without a Xing header, as adverts are cut
	opus := []string{"-c:a", "libopus"}
	for _, c := range []struct {
		name    string
		parts   []part
		without bool // also tried without ffmpeg
		headers bool // the parts have Xing headers
	}{
		{"MP3, an advert of 48 kHz before", []part{{"48000", "2", "a.mp3", bare}, {"44100", "2", "b.mp3", bare}}, true, false},
		{"MP3, an advert in the middle", []part{{"44100", "2", "a.mp3", bare}, {"48000", "2", "b.mp3", bare}, {"44100", "2", "c.mp3", bare}}, true, false},
		{"MP3, MPEG 2 before MPEG 1", []part{{"22050", "1", "a.mp3", []string{"-t", "-b", "32"}}, {"44100", "2", "b.mp3", bare}}, true, false},
		{"MP3, mono before stereo", []part{{"44100", "1", "a.mp3", bare}, {"44100", "2", "b.mp3", bare}}, true, false},
		{"MP3, stereo before mono", []part{{"44100", "2", "a.mp3", bare}, {"44100", "1", "b.mp3", bare}}, true, false},
		{"MP3, each with header and tag", []part{{"44100", "2", "a.mp3", []string{"-V", "5", "--tt", "a"}}, {"32000", "2", "b.mp3", []string{"-V", "5", "--tt", "b"}}, {"44100", "2", "c.mp3", []string{"-V", "5"}}}, true, true},
		{"FLAC", []part{{"44100", "2", "a.flac", nil}, {"48000", "1", "b.flac", nil}, {"8000", "1", "c.flac", nil}}, true, false},
		{"Ogg Vorbis", []part{{"16000", "1", "a.ogg", nil}, {"44100", "2", "b.ogg", nil}, {"22050", "1", "c.ogg", nil}}, false, false},
		{"Ogg, another codec", []part{{"44100", "2", "a.ogg", nil}, {"48000", "2", "b.opus", opus}, {"48000", "1", "c.ogg", []string{"-c:a", "flac"}}}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			decoders := []decode.Decoder{{}}
			if c.without {
				decoders = append(decoders, decode.Decoder{WithoutFFmpeg: true})
			}
			for _, d := range decoders {
				var joined []byte
				var places []float64
				at := 0.0
				for i, p := range c.parts {
					b := bursts(t, p)
					joined = append(joined, b...)
					alone, rate := decoded(t, d, b, "alone"+filepath.Ext(p.name))
					begin, length := 0, len(alone)
					if c.headers && i == 0 { // its padding plays
						length = packets(t, b)*mp3Frame - lameDelay
					} else if c.headers { // and so do the header's frame and the delay of the others
						begin, length = mp3Frame+lameDelay, (1+packets(t, b))*mp3Frame
					}
					places = append(places, at+float64(begin)/float64(rate)+onset(t, alone, rate, 0))
					at += float64(length) / float64(rate)
				}
				require.Greater(t, at, 1.5*float64(len(c.parts))-.01)
				got, rate := decoded(t, d, joined, "joined"+filepath.Ext(c.parts[0].name))
				for i, place := range places {
					require.InDelta(t, place, onset(t, got, rate, place-.1), .002, "part %d", i)
				}
			}
		})
	}
}

func TestManyChangesOfRateDoNotAddUp(t *testing.T) {
	t.Parallel()
	a, b := bursts(t, part{"44100", "1", "a.flac", nil}), bursts(t, part{"32000", "1", "b.flac", nil})
	got, rate := decoded(t, decode.Decoder{}, slices.Concat(slices.Repeat([][]byte{a, b}, 40)...), "joined.flac")
	require.Equal(t, 44100, rate)
	require.InDelta(t, 80*1.5*44100, len(got), 1)
	require.InDelta(t, 79*1.5+.5, onset(t, got, rate, 79*1.5), .001)
}

func TestAFLACWhoseFramesChangeTheirRateIsReadOn(t *testing.T) {
	t.Parallel()
	flac := append(endless(made(t, "a.flac")), frames(made(t, "b.flac", "32000"))...)
	got, rate := decoded(t, decode.Decoder{}, flac, "changes.flac")
	require.Equal(t, 44100, rate)
	require.InDelta(t, 4*44100, len(got), 1)
}

func TestFramesOfAFLACBehindItsDeclaredEndAreReadOn(t *testing.T) {
	t.Parallel()
	a, b := made(t, "a.flac"), frames(made(t, "b.flac", "32000"))
	got, rate := decoded(t, decode.Decoder{}, slices.Concat(a, b), "longer.flac")
	require.Equal(t, 44100, rate)
	require.InDelta(t, 4*44100, len(got), 1)
	got, _ = decoded(t, decode.Decoder{}, slices.Concat(a, b, made(t, "c.flac", "8000")), "longer.flac")
	require.InDelta(t, 6*44100, len(got), 1, "another file follows")
	alone, _ := decoded(t, decode.Decoder{}, a, "a.flac")
	for _, data := range [][]byte{b[:2], append(b[:2:2], "no frame follows"...), []byte("APETAGEX")} {
		got, _ = decoded(t, decode.Decoder{}, append(slices.Clone(a), data...), "data.flac")
		require.Equal(t, alone, got, "other data behind the end")
	}
}

func TestDamageBetweenFramesOfTwoKindsIsSkipped(t *testing.T) {
	t.Parallel()
	a := bursts(t, part{"48000", "2", "a.mp3", []string{"-t", "-b", "128"}})
	b := bursts(t, part{"44100", "2", "b.mp3", []string{"-t", "-b", "128"}})
	joined := slices.Concat(a, []byte("an advert ends here\xff\xfb"), b)
	for _, d := range []decode.Decoder{{}, {WithoutFFmpeg: true}} {
		got, rate := decoded(t, d, joined, "joined.mp3")
		require.Equal(t, 48000, rate)
		first := float64(packets(t, a)) * 1152 / 48000
		alone, _ := decoded(t, d, b, "alone.mp3")
		require.InDelta(t, first+onset(t, alone, 44100, 0), onset(t, got, rate, first), .002)
	}
}

func TestASecondRunThatBreaksOffIsTruncated(t *testing.T) {
	t.Parallel()
	ad := bursts(t, part{"48000", "2", "a.mp3", []string{"-t", "-b", "128"}})
	main := bursts(t, part{"44100", "2", "b.mp3", nil})
	main = main[:len(main)/5]
	for _, d := range []decode.Decoder{{}, {WithoutFFmpeg: true}} {
		s, err := d.Open(t.Context(), write(t, "joined.mp3", slices.Concat(ad, main)))
		require.NoError(t, err)
		_, err = drained(s)
		require.ErrorContains(t, err, "truncated: the sound breaks off at 0:0")
	}
}

func TestARunThatFFmpegCannotDecodeIsSilent(t *testing.T) {
	t.Parallel()
	bare := []string{"-t", "-b", "128"}
	a := bursts(t, part{"48000", "2", "a.mp3", bare})
	few := bursts(t, part{"32000", "2", "b.mp3", bare})
	few = few[:2*144*128000/32000]
	got, rate := decoded(t, decode.Decoder{}, slices.Concat(a, few, a), "joined.mp3")
	frames := float64(packets(t, a))
	require.InDelta(t, 2*frames*1152+2*1152*48./32, len(got), 48) // 1 ms
	require.Equal(t, 48000, rate)
}

func TestTheSoundOfAnOggIsTheSameAsFFmpegs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.ogg", "a.opus"} {
		path := write(t, name, made(t, name))
		got, err := all(t.Context(), path)
		require.NoError(t, err)
		sameSound(t, ffmpegs(t, path), got, sameDecoder)
	}
}
