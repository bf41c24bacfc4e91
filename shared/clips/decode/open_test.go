package decode_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-audio/audio"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/shared/clips/decode"
	"leasehold/shared/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// all decodes a file, in blocks of an awkward length.
func all(ctx context.Context, path string) (samples []float32, err error) {
	s, err := decode.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return drained(s)
}

func drained(s *decode.Stream) (samples []float32, err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	buf := &audio.Float32Buffer{Data: make([]float32, 1009)}
	for {
		n, err := s.Read(buf)
		samples = append(samples, buf.Data[:n]...)
		if errors.Is(err, io.EOF) {
			return samples, nil
		}
		if err != nil {
			return samples, err
		}
	}
}

func tool(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s(the tests of audio need ffmpeg, sox, lame and flac)", name, args, err, out)
	}
}

// made encodes two seconds of noise with a tool, at 44.1 kHz or another rate.
func made(t testing.TB, name string, rate ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "src.wav"), filepath.Join(dir, name)
	tool(t, "sox", "-R", "-n", "-r", append(rate, "44100")[0], "-c", "2", "-b", "16", src, "synth", "2", "pinknoise")
	if strings.HasSuffix(name, ".mp3") {
		tool(t, "lame", "--quiet", "-b", "128", src, out)
	} else {
		tool(t, "ffmpeg", "-v", "error", "-i", src, out)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAFolderIsNoRecording(t *testing.T) {
	t.Parallel()
	_, err := all(t.Context(), t.TempDir())
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "a folder: expected a recording")
}

func TestAWAVMayHaveAThousandChunksAndARestOfAFrame(t *testing.T) {
	t.Parallel()
	want, err := all(t.Context(), write(t, "whole.wav", plain(pcm16(8000)).bytes()))
	require.NoError(t, err)
	chunks := plain(pcm16(8000))
	chunks.before = strings.Repeat("junk\x00\x00\x00\x00", 999) // and the format's
	got, err := all(t.Context(), write(t, "chunks.wav", chunks.bytes()))
	require.NoError(t, err)
	require.Equal(t, want, got)
	odd := pcm16(8001)
	got, err = all(t.Context(), write(t, "odd.wav", plain(odd[:len(odd)-1]).bytes()))
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestFault50BadAudioIsATypedError(t *testing.T) {
	t.Parallel()
	sound := pcm16(8000)
	mp3, flac, m4a := made(t, "a.mp3"), made(t, "a.flac"), made(t, "a.m4a")
	half := resampled(t, mp3, "22.05")
	half = half[:len(half)/3]
	for _, c := range []struct {
		name    string
		content []byte
		kind    error
		says    string
	}{
		{"empty.wav", nil, fault.ErrInvalid, "empty"},
		{"one byte.wav", []byte{0}, fault.ErrInvalid, "not a known audio format"},
		{"page.mp3", []byte("<!DOCTYPE html><html><body>Not found</body></html>"), fault.ErrInvalid, "looks like an HTML page, not audio"},
		{"page with a space before.mp3", []byte(" \n<HTML>"), fault.ErrInvalid, "an HTML page"},
		{"feed.mp3", []byte(`<?xml version="1.0"?><rss/>`), fault.ErrInvalid, "an XML document"},
		{"error.mp3", []byte(`{"error":"not found"}`), fault.ErrInvalid, "a JSON document"},
		{"list.mp3", []byte("#EXTM3U\nfile:///etc/passwd\n"), fault.ErrInvalid, "text"},
		{"concat.mp3", []byte("ffconcat version 1.0\nfile /etc/passwd\n"), fault.ErrInvalid, "text"},
		{"cover.mp3", []byte("\xff\xd8\xff\xe0\x00\x10JFIF"), fault.ErrInvalid, "image/jpeg"},
		{"zeros.mp3", make([]byte, 1<<20), fault.ErrInvalid, "not a known audio format"},
		{"tag only.mp3", []byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f"), fault.ErrCorrupt, "no sound after it"},
		{"header only.wav", plain(nil).bytes(), fault.ErrInvalid, "empty: no sound"},
		{"chunks.wav", wavFile{codec: 1, channels: 1, bits: 16, rate: 8000, length: -1, data: sound, before: strings.Repeat("junk\x00\x00\x00\x00", 1000)}.bytes(), fault.ErrInvalid, "more than 1000 chunks"},
		{"header cut.wav", plain(nil).bytes()[:30], fault.ErrCorrupt, "ends before its sound"},
		{"0 Hz.wav", wavFile{codec: 1, channels: 1, bits: 16, length: -1, data: sound}.bytes(), fault.ErrInvalid, "0 Hz: expected"},
		{"2^31 Hz.wav", wavFile{codec: 1, channels: 1, bits: 16, rate: 1 << 31, length: -1, data: sound}.bytes(), fault.ErrInvalid, "2147483648 Hz: expected"},
		{"0 channels.wav", wavFile{codec: 1, bits: 16, rate: 8000, align: 2, length: -1, data: sound}.bytes(), fault.ErrInvalid, "0 channels: expected"},
		{"60000 channels.wav", wavFile{codec: 1, channels: 60000, bits: 16, rate: 8000, length: -1, data: sound}.bytes(), fault.ErrInvalid, "60000 channels"},
		{"0 bits.wav", wavFile{codec: 1, channels: 1, rate: 8000, align: 2, length: -1, data: sound}.bytes(), fault.ErrInvalid, "contradict"},
		{"align 1.wav", wavFile{codec: 1, channels: 2, bits: 16, align: 1, rate: 8000, length: -1, data: sound}.bytes(), fault.ErrInvalid, "contradict"},
		{"float16.wav", wavFile{codec: 3, channels: 1, bits: 16, rate: 8000, length: -1, data: sound}.bytes(), fault.ErrInvalid, "float of 32 or 64"},
		{"truncated.wav", wavFile{codec: 1, channels: 1, bits: 16, rate: 8000, length: 32000, data: sound}.bytes(), fault.ErrCorrupt, "truncated: the sound breaks off at 0:01.00 of 0:02.00"},
		{"100 h.wav", wavFile{codec: 1, channels: 1, bits: 8, rate: 8000, length: 360000 * 8000, data: sound}.bytes(), fault.ErrCorrupt, "of 6000:00.00"},
		{"nan.wav", wavFile{codec: 3, channels: 1, bits: 32, rate: 8000, length: -1, data: floats(0, .5, math.NaN())}.bytes(), fault.ErrInvalid, "sample NaN at 0:00.00"},
		{"inf.wav", wavFile{codec: 3, channels: 1, bits: 32, rate: 8000, length: -1, data: floats(math.Inf(-1))}.bytes(), fault.ErrInvalid, "sample -Inf"},
		{"huge.wav", wavFile{codec: 3, channels: 1, bits: 32, rate: 8000, length: -1, data: floats(1e30)}.bytes(), fault.ErrInvalid, "expected -1 to 1"},
		{"no format.wav", []byte("RIFF\x00\x00\x00\x00WAVEdata\x04\x00\x00\x00abcd"), fault.ErrInvalid, "before its format"},
		{"endless format.wav", []byte("RIFF\x00\x00\x00\x00WAVEfmt \xff\xff\xff\xff"), fault.ErrInvalid, "format of 4294967295 bytes"},
		{"truncated.mp3", mp3[:len(mp3)/2], fault.ErrCorrupt, "truncated: the sound breaks off at 0:00.9"},
		{"truncated, for ffmpeg.mp3", half, fault.ErrCorrupt, "truncated: the sound breaks off at 0:0"},
		{"untagged and cut.mp3", mp3[mp3Frames(mp3)[1] : len(mp3)-7], fault.ErrCorrupt, "truncated: the sound breaks off at 0:0"},
		{"holes.mp3", holed(mp3), fault.ErrCorrupt, "damaged"},
		{"truncated.flac", flac[:len(flac)/2], fault.ErrCorrupt, "truncated: the sound breaks off at 0:0"},
		{"flipped.flac", flipped(flac), fault.ErrCorrupt, "damaged FLAC frame at 0:0"},
		{"header cut.flac", flac[:20], fault.ErrCorrupt, "damaged header"},
		{"truncated.m4a", m4a[:len(m4a)/2], fault.ErrCorrupt, "ffmpeg cannot decode it"},
		{"only magic.ogg", []byte("OggS and then nothing of it"), fault.ErrCorrupt, "ffmpeg cannot decode it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, c.name, c.content)
			samples, err := all(context.Background(), path)
			var typed *decode.Error
			if !errors.As(err, &typed) || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d samples, error %q, want %v and %q", len(samples), err, c.kind, c.says)
			}
			if err != nil && strings.Contains(err.Error(), filepath.Dir(path)) {
				t.Errorf("the error has the path: %v", err)
			}
		})
	}
}

func floats(vs ...float64) (b []byte) {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return b
}

// mp3Frames are the offsets of the frames of a constant 128 kbit/s at 44.1 kHz.
func mp3Frames(b []byte) (at []int) {
	for i := 0; i+4 < len(b); {
		if b[i] != 0xff || b[i+1]&0xe0 != 0xe0 {
			i++
			continue
		}
		at = append(at, i)
		i += 417 + int(b[i+2]>>1&1)
	}
	return at
}

// resampled is the sound of an MP3 at another rate, in kHz.
func resampled(t *testing.T, mp3 []byte, rate string) []byte {
	t.Helper()
	in := write(t, "in.mp3", mp3)
	tool(t, "lame", "--quiet", "-b", "64", "--resample", rate, in, in+".out.mp3")
	b, err := os.ReadFile(in + ".out.mp3")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// holed overwrites the side information of every frame but the first.
func holed(mp3 []byte) []byte {
	b := slices.Clone(mp3)
	for _, at := range mp3Frames(b)[1:] {
		for i := at + 4; i < min(at+36, len(b)); i++ {
			b[i] = 0xfe
		}
	}
	return b
}

// endless returns a FLAC that does not declare its number of samples.
func endless(flac []byte) []byte {
	b := slices.Clone(flac)
	b[21] &= 0xf0
	clear(b[22:26])
	return b
}

// frames returns the frames of a FLAC, without the metadata before them.
func frames(flac []byte) []byte {
	for b := flac[4:]; ; {
		last, n := b[0]&0x80 != 0, 4+int(b[1])<<16+int(b[2])<<8+int(b[3])
		b = b[n:]
		if last {
			return b
		}
	}
}

func flipped(flac []byte) []byte {
	b := slices.Clone(flac)
	b[len(b)*3/4] ^= 0x10
	return b
}

func TestMissingFile(t *testing.T) {
	t.Parallel()
	if _, err := decode.Open(context.Background(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, fault.ErrNotFound) {
		t.Error(err)
	}
	if _, err := decode.Open(context.Background(), t.TempDir()); !errors.Is(err, fault.ErrInvalid) {
		t.Error(err)
	}
}

// TestAStreamIsDecodedAsAFileIs decodes from readers that cannot seek.
func TestAStreamIsDecodedAsAFileIs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.wav", "a.mp3", "a.flac", "a.ogg", "a.opus", "a.ac3", "a.eac3", "a.aiff", "alaw.wav"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), name)
			src := filepath.Join(t.TempDir(), "src.wav")
			tool(t, "sox", "-R", "-n", "-r", "48000", "-c", "2", "-b", "16", src, "synth", "2", "pinknoise")
			args := []string{"-v", "error", "-i", src, path}
			if name == "alaw.wav" {
				args = slices.Insert(args, 4, "-c:a", "pcm_alaw")
			}
			tool(t, "ffmpeg", args...)
			want, err := all(t.Context(), path)
			if err != nil || len(want) < 95000 {
				t.Fatal(len(want), err)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := decode.Decoder{}.OpenReader(t.Context(), struct{ io.ReadCloser }{f})
			if err != nil {
				t.Fatal(err)
			}
			got, err := drained(s)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%d samples of the stream, %d of the file, %v", len(got), len(want), err)
			}
		})
	}
}

// TestWhatComesBeforeABreakIsGiven wants the sound before the break, and then the error.
func TestWhatComesBeforeABreakIsGiven(t *testing.T) {
	t.Parallel()
	sound := make([]byte, 16000)
	for name, length := range map[string]int64{"declared": 32000, "ffmpeg": 0xffffffff, "sox": 0x7ffff000, "arecord": 0x80000000} {
		w := plain(sound)
		w.length = length
		path := filepath.Join(t.TempDir(), "a.wav")
		if err := os.WriteFile(path, w.bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := all(t.Context(), path)
		if len(got) != 8000 {
			t.Errorf("%s: %d samples", name, len(got))
		}
		if broken := length == 32000; broken != errors.Is(err, fault.ErrCorrupt) || !broken && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestARecordingWithoutALengthIsReadToItsEnd has headers as recorders leave them that were cut off or wrote to a pipe.
func TestARecordingWithoutALengthIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	riff := func(riff, data uint32, chunks string) []byte {
		w := plain(pcm16(8000))
		w.length, w.before = int64(data), chunks
		b := w.bytes()
		binary.LittleEndian.PutUint32(b[4:], riff)
		return b
	}
	form := func(form, sound uint32) []byte {
		be := binary.BigEndian
		b := be.AppendUint32([]byte("FORM"), form)
		b = append(b, "AIFFCOMM\x00\x00\x00\x12\x00\x01\x00\x00\x00\x00\x00\x10\x40\x0b\xfa\x00\x00\x00\x00\x00\x00\x00SSND"...)
		return append(append(be.AppendUint32(b, sound), make([]byte, 8)...), pcm16(8000)...)
	}
	for name, content := range map[string][]byte{
		"no length.wav":             riff(0, 0, ""),
		"only the header.wav":       riff(36, 0, ""),
		"streamed.wav":              riff(0xffffffff, 0, ""),
		"beyond the file.wav":       riff(0x7fffffff, 0, ""),
		"as much as fits.wav":       riff(0xffffffff, 0xffffffff-36, ""),
		"with chunks.wav":           riff(36+8, 0, "LIST\x00\x00\x00\x00"),
		"no length.aiff":            form(0, 0),
		"only the header.aiff":      form(46, 8),
		"the header, no sound.aiff": form(46, 0),
	} {
		samples, err := all(t.Context(), write(t, name, content))
		require.NoError(t, err, name)
		require.Len(t, samples, 8000, name)
	}
	for name, content := range map[string][]byte{
		"empty.wav":  riff(36+16000, 0, ""), // what follows are other chunks
		"empty.aiff": form(46+16000, 8),
		"nothing":    riff(0, 0, "")[:44],
	} {
		_, err := all(t.Context(), write(t, name, content))
		require.ErrorContains(t, err, "empty", name)
	}
}

func TestChannelsAreAveragedInEveryWAVFormat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := filepath.Join(dir, "src.wav") // left 0.5, right -0.125: together 0.1875
	var b []byte
	for range 4000 {
		b = binary.LittleEndian.AppendUint16(b, 16384)
		b = binary.LittleEndian.AppendUint16(b, 0xf000)
	}
	w := plain(b)
	w.channels = 2
	if err := os.WriteFile(src, w.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"pcm_u8", "wav"}, {"pcm_s16le", "wav"}, {"pcm_s24le", "wav"}, {"pcm_s32le", "wav"},
		{"pcm_f32le", "wav"}, {"pcm_f64le", "wav"}, {"flac", "flac"}, {"pcm_s16be", "aiff"}, {"pcm_s24le", "caf"}} {
		t.Run(args[0]+"."+args[1], func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(dir, args[0]+"."+args[1])
			tool(t, "ffmpeg", "-v", "error", "-i", src, "-c:a", args[0], out)
			samples, err := all(context.Background(), out)
			if err != nil || len(samples) != 4000 {
				t.Fatalf("%d samples, %v", len(samples), err)
			}
			for i, v := range samples {
				if math.Abs(float64(v)-.1875) > .005 {
					t.Fatalf("sample %d is %v, want 0.1875", i, v)
				}
			}
		})
	}
}

func TestAnMP3BehindTextIsDecoded(t *testing.T) {
	t.Parallel()
	mp3 := made(t, "a.mp3")
	want, err := all(t.Context(), write(t, "a.mp3", mp3))
	require.NoError(t, err)
	cover := append([]byte("ID3\x04\x00\x00\x00\x20\x00\x00"), make([]byte, 0x20<<14)...) // 512 KiB
	for name, before := range map[string]string{
		"a warning":       "<br />\n<b>Warning</b>: no index in <b>get.php</b><br />\n",
		"a page":          "<!DOCTYPE html><html>" + strings.Repeat("<p>Wait</p>", 9000) + "</html>",
		"XML":             `<?xml version="1.0"?><a/>`,
		"JSON":            `{"ok":true}`,
		"a line":          "\r\nfa00\r\n",
		"UTF-16":          "\xff\xfea\x00b\x00",
		"bytes":           "\x00\x01\x02\x03\xfe",
		"bytes and a tag": "\x00\x01\x02\x03\xfe" + string(cover),
		"a tag behind it": "PHP Notice: ID3 is set\n" + string(cover),
	} {
		got, err := all(t.Context(), write(t, "b.mp3", append([]byte(before), mp3...)))
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	for name, c := range map[string]struct{ content, says string }{
		"a page":              {"<html>" + strings.Repeat("<p>ID3 ÿû\xff\xfb</p>", 9000), "an HTML page"},
		"a page and one tag":  {"<html>" + string(cover), "no sound after it"},
		"a page, then frames": {"<html>" + string(mp3[:500]), "an HTML page"},
		"a text":              {strings.Repeat("Here ID3 tags are described.\n", 100), "text"},
	} {
		_, err := all(t.Context(), write(t, "c.mp3", []byte(c.content)))
		require.ErrorContains(t, err, c.says, name)
	}
}

func TestDamageInsideAnMP3IsSilenceOfTheSameLength(t *testing.T) {
	t.Parallel()
	whole := made(t, "a.mp3")
	b := slices.Clone(whole)
	at := mp3Frames(b)[30]
	for i := at + 4; i < at+36; i++ {
		b[i] = 0xfe
	}
	want, err := all(context.Background(), write(t, "whole.mp3", whole))
	if err != nil {
		t.Fatal(err)
	}
	got, err := all(context.Background(), write(t, "damaged.mp3", b))
	if err != nil || len(got) != len(want) {
		t.Errorf("%d samples instead of %d, %v", len(got), len(want), err)
	}
}

func TestWithoutFFmpegTheErrorSaysSo(t *testing.T) {
	b := made(t, "a.ogg")
	t.Setenv("PATH", t.TempDir())
	_, err := all(context.Background(), write(t, "a.ogg", b))
	if !errors.Is(err, fault.ErrNotFound) || !strings.Contains(err.Error(), "format ogg needs ffmpeg, which is not installed") {
		t.Error(err)
	}
}

func TestTheEndOfTheContextEndsTheStream(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	for _, name := range []string{"a.ogg", "a.flac"} {
		ctx, cancel := context.WithCancelCause(context.Background())
		s, err := decode.Open(ctx, write(t, name, made(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		cancel(gone)
		if _, err := s.Read(&audio.Float32Buffer{Data: make([]float32, 10)}); !errors.Is(err, gone) {
			t.Error(name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := s.Read(&audio.Float32Buffer{Data: make([]float32, 10)}); err == nil {
			t.Error("a closed stream reads")
		}
	}
}

func TestTheShareOfAFileThatWasReadGrowsToAll(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"seed.wav", "seed.flac", "seed.mp3", "seed.aiff"} {
		s, err := decode.Open(t.Context(), filepath.Join("testdata", name))
		require.NoError(t, err)
		_, err = drained(s)
		require.NoError(t, err)
		require.Greater(t, s.Share(), .9, name)
	}
	s, err := decode.Decoder{}.OpenReader(t.Context(), io.NopCloser(strings.NewReader(string(made(t, "a.wav")))))
	require.NoError(t, err)
	_, err = drained(s)
	require.NoError(t, err)
	require.Zero(t, s.Share(), "the length of a stream is not known")
}
