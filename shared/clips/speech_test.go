package clips

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"leasehold/shared/clips/exact"
)

const talk = `Nobody knows how long it takes to learn a language, but everybody has a method.
Our guest has worked for thirty years in a small museum near the harbour. She says that people come
for the ships and stay for the stories. Then the weather changed, and the whole plan with it. We asked
our listeners to write to us, and they did, by the hundreds. Right, hello, and back to the show.`

// TestClipsInTalk runs all steps: it plays clips into speech, encodes that as an MP3
// of 64 kbit/s, and searches it. The clips that are played are found to the millisecond,
// and the others are not found.
func TestClipsInTalk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	run(t, "espeak-ng", "-v", "en-us", "-w", at("talk.wav"), talk)
	played := map[string]string{ // clip to offset in seconds
		"jingle": "3.2", "drop": "11.75", "voice": "18.01",
	}
	run(t, "sox", "-R", "-n", "-r", "44100", "-b", "16", at("jingle.wav"), "synth", "0.4", "pluck", "440", "synth", "0.4", "sine", "mix", "660-880", "gain", "-n", "-8")
	run(t, "sox", "-R", "-n", "-r", "44100", "-b", "16", at("drop.wav"), "synth", "1.2", "brownnoise", "tremolo", "9", "80", "fade", "0", "1.2", "0.7", "gain", "-n", "-8")
	run(t, "espeak-ng", "-v", "en-us+f3", "-w", at("voice.wav"), "And now, the news")
	var clips []exact.Clip
	add := func(name string) {
		clips = append(clips, exact.Clip{ID: name, Load: func(ctx context.Context) ([]float32, error) {
			return Load(ctx, at(name+".wav"), time.Minute)
		}})
	}
	mix := []string{"-m", "-v", "0.5", at("talk44.wav")}
	run(t, "sox", at("talk.wav"), "-r", "44100", at("talk44.wav"))
	for name, offset := range played {
		run(t, "sox", at(name+".wav"), "-r", "44100", at(name+"-late.wav"), "gain", "-3", "pad", offset)
		mix = append(mix, "-v", "0.7", at(name+"-late.wav"))
		add(name)
	}
	run(t, "sox", append(mix, at("episode.wav"))...)
	run(t, "lame", "--quiet", "-b", "64", at("episode.wav"), at("episode.mp3"))
	for i, words := range []string{"Right", "Hello", "Back to the show", "And now, the weather"} {
		for _, voice := range []string{"en-us+f2", "en-gb+m3", "de"} {
			name := fmt.Sprintf("not%d%s", i, voice)
			run(t, "espeak-ng", "-v", voice, "-w", at(name+".wav"), words)
			add(name)
		}
	}
	for _, hz := range []string{"440", "554", "880"} {
		run(t, "sox", "-R", "-n", "-r", "44100", at("tone"+hz+".wav"), "synth", "0.5", "pluck", hz)
		add("tone" + hz)
	}
	episode, err := Spool(context.Background(), at("episode.mp3"), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = episode.Close() }()
	err = exact.Find(context.Background(), episode, clips, exact.Options{}, func(r exact.Result) error {
		offset, there := played[r.ID]
		switch {
		case r.Err != nil:
			return r.Err
		case !there && len(r.Matches) > 0:
			t.Errorf("%s found where it is not: %+v", r.ID, r.Matches)
		case there:
			var want float64
			_, _ = fmt.Sscan(offset, &want)
			t.Logf("%s: %+v", r.ID, r.Matches)
			if len(r.Matches) != 1 || math.Abs(r.Matches[0].Start().Seconds()-want) > .001 {
				t.Errorf("%s: %+v, want one at %s s", r.ID, r.Matches, offset)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
