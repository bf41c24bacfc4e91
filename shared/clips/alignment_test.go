package clips

import (
	"context"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// run runs a tool that the tests need.
func run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s(the tests of audio need ffmpeg, sox, lame and flac)", name, args, err, out)
	}
}

// lag returns the shift in samples at which got and want correlate most, and that correlation.
func lag(want, got []float32, most int) (shift int, score float64) {
	const from, n = 8000, 8000
	for d := -most; d <= most; d++ {
		var xy, xx, yy float64
		for i := from; i < from+n; i++ {
			x, y := float64(want[i]), float64(got[i+d])
			xy, xx, yy = xy+x*y, xx+x*x, yy+y*y
		}
		if s := xy / math.Sqrt(xx*yy); s > score {
			shift, score = d, s
		}
	}
	return shift, score
}

func TestOffsetsAgreeWhateverTheFormat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := filepath.Join(dir, "src.wav")
	run(t, "sox", "-R", "-n", "-r", "44100", "-b", "16", "-c", "2", src, "synth", "4", "brownnoise", "brownnoise", "tremolo", "3", "60", "gain", "-n", "-6")
	want, err := Load(context.Background(), src, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, tool, args string }{
		{"cbr128.mp3", "lame", "--quiet -b 128 SRC OUT"},
		{"cbr64.mp3", "lame", "--quiet -b 64 SRC OUT"},
		{"vbr.mp3", "lame", "--quiet -V 5 SRC OUT"},
		{"mono.mp3", "lame", "--quiet -m m -b 64 SRC OUT"},
		{"joint.mp3", "lame", "--quiet -m j -b 96 SRC OUT"},
		{"crc.mp3", "lame", "--quiet -p -b 128 SRC OUT"},
		{"tagged.mp3", "lame", "--quiet -b 128 --add-id3v2 --id3v1-only --tt Title SRC OUT"},
		{"mpeg2.mp3", "lame", "--quiet --resample 24 -b 64 SRC OUT"},
		{"mpeg2-22.mp3", "lame", "--quiet --resample 22.05 -b 64 SRC OUT"},
		{"mpeg25.mp3", "lame", "--quiet --resample 11.025 -b 32 SRC OUT"},
		{"ff.mp3", "ffmpeg", "-v error -i SRC -b:a 96k OUT"},
		{"48.wav", "sox", "SRC -r 48000 -b 24 OUT"},
		{"odd.wav", "sox", "SRC -r 44099 -b 32 OUT"},
		{"16.flac", "sox", "SRC OUT"},
		{"24.flac", "sox", "SRC -b 24 -r 96000 OUT"},
		{"vorbis.ogg", "ffmpeg", "-v error -i SRC -c:a libvorbis OUT"},
		{"opus.ogg", "ffmpeg", "-v error -i SRC -c:a libopus OUT"},
		{"aac.m4a", "ffmpeg", "-v error -i SRC OUT"},
		{"mu.wav", "ffmpeg", "-v error -i SRC -c:a pcm_mulaw OUT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(dir, c.name)
			run(t, c.tool, fill(c.args, src, out)...)
			got, err := Load(context.Background(), out, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			shift, score := lag(want, got, 800)
			t.Logf("%d samples instead of %d; %+d samples at 8 kHz, correlation %.4f", len(got), len(want), shift, score)
			if shift < -8 || shift > 8 || score < .9 { // 8 are 1 ms
				t.Errorf("shifted by %d samples (%.2f ms), correlation %.3f", shift, float64(shift)/8, score)
			}
		})
	}
}

// TestMP3AgreesWithFFmpeg also covers files that do not state their delay.
func TestMP3AgreesWithFFmpeg(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := filepath.Join(dir, "src.wav")
	run(t, "sox", "-R", "-n", "-r", "44100", "-c", "2", src, "synth", "3", "pinknoise", "gain", "-n", "-6")
	for _, args := range []string{"-b 128", "-t -b 128", "-V 4", "-m m -b 64", "-b 32 --resample 24"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			base := filepath.Join(t.TempDir(), "x")
			run(t, "lame", append(fill("--quiet "+args, "", ""), src, base+".mp3")...)
			run(t, "ffmpeg", "-v", "error", "-i", base+".mp3", base+".wav")
			ours, err := Load(context.Background(), base+".mp3", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := Load(context.Background(), base+".wav", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			shift, score := lag(theirs, ours, 800)
			if shift != 0 || score < .999 || len(ours)-len(theirs) > 8 || len(theirs)-len(ours) > 8 {
				t.Errorf("ours has %d samples, ffmpeg's %d; shift %d, correlation %.5f", len(ours), len(theirs), shift, score)
			}
		})
	}
}

// fill splits a command line and replaces the placeholders of its files.
func fill(args, src, out string) (list []string) {
	for _, a := range strings.Fields(args) {
		switch a {
		case "SRC":
			a = src
		case "OUT":
			a = out
		}
		list = append(list, a)
	}
	return list
}
