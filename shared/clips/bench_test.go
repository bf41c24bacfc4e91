package clips

import (
	"context"
	"flag"
	"path/filepath"
	"testing"
)

var benchMedia = flag.String("media", "", "recording for BenchmarkSpool; else 20 s of noise in each of four formats")

// BenchmarkSpool measures decoding and resampling. To measure another file:
//
//	go test -run '^$' -bench Spool -benchtime 1x ./shared/clips -args -media FILE
func BenchmarkSpool(b *testing.B) {
	files := []string{*benchMedia}
	if *benchMedia == "" {
		dir := b.TempDir()
		src := filepath.Join(dir, "src.wav")
		run(b, "sox", "-R", "-n", "-r", "44100", "-c", "1", src, "synth", "20", "pinknoise")
		run(b, "lame", "--quiet", "-b", "64", src, filepath.Join(dir, "src.mp3"))
		run(b, "sox", src, filepath.Join(dir, "src.flac"))
		run(b, "ffmpeg", "-v", "error", "-i", src, filepath.Join(dir, "src.ogg"))
		files = []string{src, filepath.Join(dir, "src.mp3"), filepath.Join(dir, "src.flac"), filepath.Join(dir, "src.ogg")}
	}
	for _, f := range files {
		b.Run(filepath.Ext(f), func(b *testing.B) {
			b.ReportAllocs()
			hours := 0.0
			for b.Loop() {
				r, err := Spool(context.Background(), f, b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				hours += r.Duration().Hours()
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/hours, "s/hour")
		})
	}
}
