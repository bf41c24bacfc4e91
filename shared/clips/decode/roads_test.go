package decode_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-audio/audio"
	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/decode"
	"leasehold/shared/fault"
)

// without decodes a file as if there were no ffmpeg.
func without(t *testing.T, path string) ([]float32, error) {
	t.Helper()
	s, err := decode.Decoder{WithoutFFmpeg: true}.Open(t.Context(), path)
	if err != nil {
		return nil, err
	}
	defer func() { require.NoError(t, s.Close()) }()
	var samples []float32
	for buf := (&audio.Float32Buffer{Data: make([]float32, 4096)}); ; {
		n, err := s.Read(buf)
		samples = append(samples, buf.Data[:n]...)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			return samples, err
		}
	}
}

// ffmpegs returns the sound that ffmpeg itself decodes from a file, mixed by this package.
func ffmpegs(t *testing.T, path string) []float32 {
	t.Helper()
	out := path + ".ffmpeg.wav"
	tool(t, "ffmpeg", "-v", "error", "-i", path, "-c:a", "pcm_f32le", out)
	samples, err := all(t.Context(), out)
	require.NoError(t, err)
	return samples
}

const (
	sameDecoder    = 1e-5 // of the power; it may round differently
	anotherDecoder = 5e-3 // go-mp3 decodes some MPEG 2 frames differently
)

// sameSound checks that two decoders agree on the number of samples, and nearly on their values.
func sameSound(t *testing.T, want, got []float32, within float64) {
	t.Helper()
	require.Equal(t, len(want), len(got))
	var apart, power float64
	for i, v := range want {
		apart += float64(v-got[i]) * float64(v-got[i])
		power += float64(v) * float64(v)
	}
	require.Less(t, apart, power*within, "another sound, or the same one shifted")
}

func TestEveryRoadOfAnMP3LeadsToTheSameSamples(t *testing.T) {
	t.Parallel()
	src := filepath.Join(t.TempDir(), "src.wav")
	tool(t, "sox", "-R", "-n", "-r", "48000", "-c", "2", "-b", "16", src, "synth", "1.7", "pinknoise", "vol", "0.4")
	for _, c := range []struct {
		name string
		args []string
		goes bool // go-mp3 can decode it
	}{
		{name: "MPEG 1, 48 kHz", args: []string{"-b", "128"}, goes: true},
		{name: "MPEG 1, 44.1 kHz, VBR", args: []string{"-V", "4", "--resample", "44.1"}, goes: true},
		{name: "MPEG 1, 32 kHz, ABR, mono", args: []string{"--abr", "70", "-m", "m", "--resample", "32"}, goes: true},
		{name: "MPEG 1 without a LAME tag", args: []string{"-b", "64", "-t", "--resample", "44.1"}, goes: true},
		{name: "MPEG 2, 24 kHz", args: []string{"-b", "64", "--resample", "24"}, goes: true},
		{name: "MPEG 2, 22.05 kHz", args: []string{"-b", "48", "--resample", "22.05"}, goes: true},
		{name: "MPEG 2, 22.05 kHz, padded by a byte that counts", args: []string{"-b", "32", "-m", "m", "--resample", "22.05"}, goes: true},
		{name: "MPEG 2, 22.05 kHz, 144 kbit/s", args: []string{"-b", "144", "--resample", "22.05"}, goes: true},
		{name: "MPEG 2, 22.05 kHz, 160 kbit/s", args: []string{"-b", "160", "--resample", "22.05"}},
		{name: "MPEG 2, 22.05 kHz, VBR, with CRC", args: []string{"-V", "2", "-p", "--resample", "22.05"}, goes: true},
		{name: "MPEG 2, 16 kHz, VBR", args: []string{"-V", "6", "--resample", "16"}, goes: true},
		{name: "MPEG 2.5, 12 kHz", args: []string{"-b", "24", "--resample", "12"}, goes: true},
		{name: "MPEG 2.5, 11.025 kHz", args: []string{"-b", "24", "--resample", "11.025"}, goes: true},
		{name: "MPEG 2.5, 8 kHz", args: []string{"-b", "16", "--resample", "8"}},
		{name: "tags before and behind", args: []string{"-b", "96", "--add-id3v2", "--tt", "Title", "--tc", "Comment"}, goes: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.mp3")
			tool(t, "lame", slices.Concat([]string{"--quiet"}, c.args, []string{src, path})...)
			got, err := all(t.Context(), path)
			require.NoError(t, err)
			sameSound(t, ffmpegs(t, path), got, sameDecoder)
			plain, err := without(t, path)
			if !c.goes {
				require.ErrorIs(t, err, fault.ErrNotFound)
				require.ErrorContains(t, err, "needs ffmpeg, which is not installed")
				return
			}
			require.ErrorContains(t, err, "EOF")
			sameSound(t, got, plain, anotherDecoder)
		})
	}
}

func TestTagsAmongTheFramesOfAnMP3ShiftNothing(t *testing.T) {
	t.Parallel()
	mp3 := made(t, "a.mp3")
	frames := mp3Frames(mp3)
	tag := append([]byte("ID3\x03\x00\x00\x00\x18\x00\x00"), make([]byte, 0x18<<14)...) // with a picture
	old := append([]byte("TAG"), make([]byte, 125)...)
	for i := range tag[10:] {
		tag[10+i] = byte(0xff - i%3) // that looks like frames
	}
	mixed := slices.Concat(tag, mp3[:frames[20]], tag, old, mp3[frames[20]:frames[40]], tag, mp3[frames[40]:], old)
	want, err := all(t.Context(), write(t, "plain.mp3", mp3))
	require.NoError(t, err)
	path := write(t, "mixed.mp3", mixed)
	got, err := all(t.Context(), path)
	require.NoError(t, err)
	sameSound(t, want, got, sameDecoder)
	plain, err := without(t, path)
	require.ErrorContains(t, err, "EOF")
	sameSound(t, want, plain, anotherDecoder)
}

func TestBothRoadsPutSilenceWhereAFrameIsDamaged(t *testing.T) {
	t.Parallel()
	b := slices.Clone(made(t, "a.mp3"))
	for _, n := range []int{20, 50, 51} {
		at := mp3Frames(b)[n]
		for i := at + 4; i < at+36; i++ {
			b[i] = 0xfe
		}
	}
	path := write(t, "damaged.mp3", b)
	got, err := all(t.Context(), path)
	require.NoError(t, err)
	plain, err := without(t, path)
	require.ErrorContains(t, err, "EOF")
	require.InDelta(t, len(plain), len(got), 44) // 1 ms
	from := 60 * 1152
	sameSound(t, plain[from:from+10000], got[from:from+10000], anotherDecoder)
}

func TestAIFFOfEveryKindIsReadHere(t *testing.T) {
	t.Parallel()
	src := write(t, "src.wav", wavFile{codec: 1, channels: 2, bits: 16, rate: 8000, length: -1, data: pcm16(8000)}.bytes())
	want, err := all(t.Context(), src)
	require.NoError(t, err)
	for _, codec := range []string{"pcm_s8", "pcm_s16be", "pcm_s24be", "pcm_s32be", "pcm_s16le", "pcm_f32be", "pcm_f64be"} {
		t.Run(codec, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.aiff")
			tool(t, "ffmpeg", "-v", "error", "-i", src, "-c:a", codec, path)
			got, err := without(t, path)
			require.ErrorContains(t, err, "EOF")
			require.Equal(t, len(want), len(got))
			for i, v := range want {
				require.InDelta(t, v, got[i], 1./127)
			}
		})
	}
	compressed := filepath.Join(t.TempDir(), "a.aiff")
	tool(t, "ffmpeg", "-v", "error", "-i", src, "-c:a", "pcm_mulaw", compressed)
	_, err = without(t, compressed)
	require.ErrorContains(t, err, "a file of format aiff needs ffmpeg")
	got, err := all(t.Context(), compressed)
	require.NoError(t, err)
	require.Equal(t, len(want), len(got))
}

func TestUnusualSoundIsSound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		file wavFile
		want func(i int) float64
		n    int
	}{
		{"8 bits", wavFile{codec: 1, channels: 1, bits: 8, rate: 8000, data: bytes.Repeat([]byte{192}, 1600)}, constant(.5), 1600},
		{"192 kHz", wavFile{codec: 1, channels: 1, bits: 16, rate: 192000, data: pcm16(38400)}, nil, 38400},
		{"24 channels", wavFile{codec: 1, channels: 24, bits: 16, rate: 48000, data: bytes.Repeat([]byte{0, 64, 0, 32}, 12*4800)}, constant(.375), 4800},
		{"12 bits in 16", wavFile{codec: 1, channels: 1, bits: 12, align: 2, rate: 8000, data: bytes.Repeat([]byte{0, 64}, 1600)}, constant(.5), 1600},
		{"extensible", wavFile{codec: 0xfffe, channels: 1, bits: 16, rate: 8000, extra: extensible(1), data: bytes.Repeat([]byte{0, 64}, 1600)}, constant(.5), 1600},
		{"extensible floats", wavFile{codec: 0xfffe, channels: 1, bits: 32, rate: 8000, extra: extensible(3), data: floats(.25, .25)}, constant(.25), 2},
		{"odd chunks", wavFile{codec: 1, channels: 1, bits: 16, rate: 8000, before: "LIST\x03\x00\x00\x00abc\x00junk\x00\x00\x00\x00", data: bytes.Repeat([]byte{0, 64}, 1600)}, constant(.5), 1600},
		{"a DC offset", wavFile{codec: 1, channels: 1, bits: 16, rate: 8000, data: bytes.Repeat([]byte{255, 127}, 1600)}, constant(1), 1600},
		{"all zero", wavFile{codec: 1, channels: 1, bits: 16, rate: 8000, data: make([]byte, 3200)}, constant(0), 1600},
		{"0.2 s", wavFile{codec: 1, channels: 1, bits: 16, rate: 8000, data: pcm16(1600)}, nil, 1600},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.file.length = -1
			got, err := all(t.Context(), write(t, "a.wav", c.file.bytes()))
			require.NoError(t, err)
			require.Equal(t, c.n, len(got))
			for i, v := range got {
				if c.want != nil {
					require.InDelta(t, c.want(i), v, 1e-4)
				}
			}
		})
	}
}

func constant(v float64) func(int) float64 { return func(int) float64 { return v } }

// extensible is what WAVE_FORMAT_EXTENSIBLE adds to the format chunk.
func extensible(codec byte) string {
	return "\x16\x00\x10\x00\x04\x00\x00\x00" + string([]byte{codec}) + "\x00\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
}

func TestAChainedOggKeepsTheRateOfItsFirstLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var chained []byte
	for _, rate := range []string{"44100", "22050"} {
		wav, out := filepath.Join(dir, rate+".wav"), filepath.Join(dir, rate+".ogg")
		tool(t, "sox", "-R", "-n", "-r", rate, wav, "synth", "1", "sine", "440", "vol", "0.5")
		tool(t, "ffmpeg", "-v", "error", "-i", wav, out)
		b, err := os.ReadFile(out)
		require.NoError(t, err)
		chained = append(chained, b...)
	}
	got, err := all(t.Context(), write(t, "chained.ogg", chained))
	require.NoError(t, err)
	require.InDelta(t, 2*44100, len(got), 2000)
	require.InDelta(t, 440, frequency(got[60000:80000], 44100), 2)
}

// frequency of a sine, by its upward zero crossings.
func frequency(x []float32, rate float64) float64 {
	n := 0
	for i := 1; i < len(x); i++ {
		if x[i-1] < 0 && x[i] >= 0 {
			n++
		}
	}
	return float64(n) * rate / float64(len(x))
}

func TestFault50TenHoursThatAreNotThere(t *testing.T) {
	t.Parallel()
	aiff := filepath.Join(t.TempDir(), "a.aiff")
	tool(t, "sox", "-R", "-n", "-r", "8000", "-b", "16", aiff, "synth", "1", "pinknoise")
	b, err := os.ReadFile(aiff)
	require.NoError(t, err)
	at := bytes.Index(b, []byte("COMM")) + 10
	binary.BigEndian.PutUint32(b[at:], 10*3600*8000)
	ssnd := bytes.Index(b, []byte("SSND")) + 4
	binary.BigEndian.PutUint32(b[ssnd:], math.MaxUint32)
	_, err = all(t.Context(), write(t, "claims.aiff", b))
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorContains(t, err, "breaks off at 0:01.00 of 600:00.00")

	binary.BigEndian.PutUint32(b[at:], math.MaxUint32)
	_, err = all(t.Context(), write(t, "claims more.aiff", b))
	require.ErrorIs(t, err, fault.ErrCorrupt)

	flac := slices.Clone(made(t, "a.flac"))
	flac[21], flac[22], flac[23], flac[24], flac[25] = flac[21]&0xf0, 0x5f, 0x40, 0, 0 // 1.6 thousand million samples
	_, err = all(t.Context(), write(t, "claims.flac", flac))
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorContains(t, err, "truncated")
}

func TestFault50WhatLastsLongerThanADayIsRefusedUnread(t *testing.T) {
	t.Parallel()
	head := wavFile{codec: 1, channels: 1, bits: 8, rate: 2000, length: 25 * 3600 * 2000}.bytes()
	wav := write(t, "long.wav", head)
	require.NoError(t, os.Truncate(wav, int64(len(head))+25*3600*2000)) // a sparse file, which takes no disk space
	flac := slices.Clone(made(t, "a.flac"))
	flac[21] |= 0x0f // 69 thousand million samples
	for _, path := range []string{wav, write(t, "long.flac", flac)} {
		samples, err := all(t.Context(), path)
		require.ErrorIs(t, err, fault.ErrTooLarge)
		require.ErrorContains(t, err, "24h0m0s")
		require.Empty(t, samples)
	}
}

func TestAFORMThatIsNoAIFF(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]string{
		"another type": "FORM\x00\x00\x00\x00ILBM", "cut": "FORM\x00\x00\x00\x00AIFFCOMM", "no format": "FORM\x00\x00\x00\x00AIFFSSND\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00",
		"0 Hz":       "FORM\x00\x00\x00\x00AIFFCOMM\x00\x00\x00\x12\x00\x01\x00\x00\x00\x01\x00\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"0 channels": "FORM\x00\x00\x00\x00AIFFCOMM\x00\x00\x00\x12\x00\x00\x00\x00\x00\x01\x00\x10\x40\x0b\xfa\x00\x00\x00\x00\x00\x00\x00",
	} {
		_, err := all(t.Context(), write(t, "a.aiff", []byte(b)))
		var typed *decode.Error
		require.ErrorAs(t, err, &typed, name)
	}
}
