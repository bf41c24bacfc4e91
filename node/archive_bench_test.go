package node

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
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
	"leasehold/shared/catalog"
	"leasehold/shared/clips"
	"leasehold/shared/clips/fingerprint"
	"leasehold/shared/clips/landmark"
	"leasehold/shared/config"
	"leasehold/shared/process/platform"
	"leasehold/shared/protocol/lease"
)

var (
	archiveHours  = flag.Int("archive.hours", 4, "hours of known episodes of BenchmarkNewClip")
	archiveStore  = flag.String("archive.store", "", "folder in which the landmarks of that many hours are kept for further runs; without it, they are made in each run")
	archiveSounds = flag.String("archive.sounds", "", "file of real sound that the episodes are made of; without it, music that is synthesised")
)

const episodeSamples = 3600 * clips.RateHz

// BenchmarkNewClip adds one clip to an archive whose episodes were all researched for another clip, and
// waits until the catalog has the findings in all of them.
//
//	go test ./node -run '^$' -bench NewClip -benchtime 1x -timeout 1h -archive.hours 1000
//
// The first episode is an hour of sound, in which the clip is played three times. Every other one has the
// landmarks of that hour moved in time by 97 s, in frequency by 1 to 40 bins up or down, and for every second
// one reversed: as many landmarks at the same places in each, and all hashes others. Their sound is a hole in
// a file, which reads as silence; the clip is not played there, so it is read where landmarks agree by chance.
func BenchmarkNewClip(b *testing.B) {
	cfg, err := config.Load(nil)
	require.NoError(b, err)
	cfg.Data, cfg.Workers, cfg.EpisodeBytes = b.TempDir(), 2, 1<<50
	sound := hourOfSound(b)
	dir := filepath.Join(cfg.Data, cacheDir, "episodes")
	if *archiveStore != "" {
		require.NoError(b, os.MkdirAll(filepath.Dir(dir), 0o700))
		require.NoError(b, os.MkdirAll(*archiveStore, 0o700))
		require.NoError(b, os.Symlink(*archiveStore, dir))
	}
	if found, err := filepath.Glob(filepath.Join(dir, "*.marks")); err != nil || len(found) != *archiveHours {
		fillStore(b, dir, sound)
	}
	folder := b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(folder, "new.wav"), waveFile(sound[600*clips.RateHz:][:4*clips.RateHz]), 0o600))
	d, err := OpenDataDir(b.Context(), cfg, discard)
	require.NoError(b, err)
	defer func() { require.NoError(b, d.Close()) }()
	fillCatalog(b, d.Catalog)
	origins, err := DetectOrigins([]string{folder}, "clips")
	require.NoError(b, err)
	require.NoError(b, d.AddOrigins(b.Context(), origins, true))
	began, cpu := time.Now(), platform.ProcessorTime()
	require.NoError(b, RunLocal(b.Context(), d, func(ctx context.Context, l *Local) error {
		b.ReportMetric(time.Since(began).Seconds(), "s-start")
		began, cpu = time.Now(), platform.ProcessorTime()
		for again := time.NewTicker(50 * time.Millisecond); ; <-again.C { // each of these counts takes 2 ms
			t, err := l.Catalog.Totals(ctx)
			if err != nil || t.Researched == 2**archiveHours {
				b.ReportMetric(time.Since(began).Seconds(), "s")
				b.ReportMetric((platform.ProcessorTime() - cpu).Seconds(), "cpu-s")
				b.ReportMetric(float64(t.Findings), "findings")
				b.ReportMetric(float64(t.Problems), "problems")
				leases, _ := l.LeaseTotals(ctx)
				b.ReportMetric(float64(leases[lease.Granted]), "work-items")
				costs, _ := l.Costs(ctx)
				for _, c := range costs {
					b.ReportMetric(float64(c.Windows), "windows-"+c.How)
				}
				return err
			}
		}
	}))
	b.ReportMetric(kept(b, dir)/1e6/float64(*archiveHours), "MB/hour")
	b.ReportMetric(0, "ns/op")
}

// hourOfSound is an hour in which four seconds at 10 minutes are played again at 20 and 30.
func hourOfSound(b *testing.B) []float32 {
	sound := make([]float32, 0, episodeSamples)
	if *archiveSounds != "" {
		err := clips.Each(b.Context(), *archiveSounds, func(block []float32) error {
			sound = append(sound, block[:min(len(block), episodeSamples-len(sound))]...)
			return nil
		})
		require.NoError(b, err)
	}
	for r := rand.New(rand.NewPCG(18, 1)); len(sound) < episodeSamples; {
		note := make([]float32, clips.RateHz/4) // three tones that decay, and a little noise
		for range 3 {
			f, level := 0.05+r.Float64()*2.5, 0.02+0.1*r.Float64()
			re, im, a, c := level, 0.0, 0.9995*math.Cos(f), 0.9995*math.Sin(f)
			for i := range note {
				note[i] += float32(im + .002*r.NormFloat64())
				re, im = re*a-im*c, re*c+im*a
			}
		}
		sound = append(sound, note[:min(len(note), episodeSamples-len(sound))]...)
	}
	for _, minute := range []int{20, 30} {
		copy(sound[minute*60*clips.RateHz:], sound[600*clips.RateHz:][:4*clips.RateHz])
	}
	return sound
}

func fillStore(b *testing.B, dir string, sound []float32) {
	store, err := fingerprint.Open(dir, 1<<50)
	require.NoError(b, err)
	e, err := store.Put(hashOf(0), func(push func([]float32) error) error { return push(sound) })
	require.NoError(b, err)
	all := landmark.NewHashes()
	for h := range uint32(1 << landmark.HashBits) {
		all.Add(h)
	}
	var base []landmark.Landmark
	for l, err := range e.Of(all) {
		require.NoError(b, err)
		base = append(base, l)
	}
	require.NoError(b, e.Close())
	for n := 1; n < *archiveHours; n++ {
		own := derived(base, n)
		require.NoError(b, store.PutLandmarks(hashOf(n), episodeSamples, func(add func(landmark.Landmark)) {
			for _, l := range own {
				add(l)
			}
		}))
		name := sha256.Sum256([]byte(hashOf(n)))
		hole, err := os.Create(filepath.Join(dir, hex.EncodeToString(name[:])+".pcm"))
		require.NoError(b, err)
		require.NoError(b, hole.Truncate(2*episodeSamples))
		require.NoError(b, hole.Close())
	}
	b.ReportMetric(float64(len(base)), "landmarks/hour")
}

// derived is the landmarks of another hour.
func derived(base []landmark.Landmark, n int) (own []landmark.Landmark) {
	const frames, bins = episodeSamples / 64, 252
	var order []int
	shift, by := (n/2%80+1)*(1-2*(n/2%2)), n*97*125
	for _, l := range base {
		first, second, apart := landmark.Bins(l.Hash)
		if n%2 == 1 {
			first, second, l.Frame = second, first, frames-l.Frame-apart
		}
		first = 4 + ((first+shift-4)%bins+bins)%bins
		change := second - first + shift
		if change < -31 || change > 31 {
			change = (change+bins+31)%bins - 31 // one of the two went around
		}
		hash := first<<12 | (min(31, max(-31, change))+31)<<6 | apart
		order = append(order, (l.Frame+by)%(frames-64)<<landmark.HashBits|hash)
	}
	slices.Sort(order)
	for _, o := range order {
		own = append(own, landmark.Landmark{Hash: uint32(o) & (1<<landmark.HashBits - 1), Frame: o >> landmark.HashBits})
	}
	return own
}

func hashOf(n int) string { return fmt.Sprintf("sha256:%064d", n) }

func fillCatalog(b *testing.B, c catalog.Catalog) {
	_, err := c.AddOrigin(b.Context(), models.Origin{ID: "archive", Kind: models.API, URI: "archive", AddedAt: time.Now()})
	require.NoError(b, err)
	old := models.Clip{Recording: models.Recording{Name: "old", Media: models.MediaRef{URI: "file:///old", Version: "1"}}}
	l := catalog.Listing{Clips: []models.Clip{old}}
	for n := range *archiveHours {
		media := models.MediaRef{URI: fmt.Sprintf("file:///archive/%d", n), Version: "1", Hash: hashOf(n)}
		l.Episodes = append(l.Episodes, models.Episode{Recording: models.Recording{Name: fmt.Sprint(n), Media: media}})
	}
	_, err = c.Curate(b.Context(), "archive", time.Now(), l)
	require.NoError(b, err)
	clip := models.NewID("archive", "old")
	for n, e := range l.Episodes {
		require.NoError(b, c.Ingest(b.Context(), models.Researched{
			Episode: models.NewID("archive", fmt.Sprint(n)), Clips: []string{clip}, EpisodeMedia: e.Media, ClipMedia: map[string]models.MediaRef{clip: old.Media},
		}, time.Now()))
	}
}

// kept is the bytes of landmarks and segments of a folder.
func kept(b *testing.B, dir string) (bytes float64) {
	for _, suffix := range []string{"*.marks", "*.segment"} {
		paths, err := filepath.Glob(filepath.Join(dir, suffix))
		require.NoError(b, err)
		for _, path := range paths {
			info, err := os.Stat(path)
			require.NoError(b, err)
			bytes += float64(info.Size())
		}
	}
	return bytes
}

// waveFile is a WAV of 16 bits.
func waveFile(samples []float32) []byte {
	le := binary.LittleEndian
	data := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	data = le.AppendUint32(data, clips.RateHz)
	data = le.AppendUint32(data, 2*clips.RateHz)
	data = append(data, 2, 0, 16, 0, 'd', 'a', 't', 'a')
	data = le.AppendUint32(data, uint32(2*len(samples)))
	for _, v := range samples {
		data = le.AppendUint16(data, uint16(int16(v*32767)))
	}
	return data
}
