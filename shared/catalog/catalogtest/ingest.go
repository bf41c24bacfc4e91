package catalogtest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// found gives a result findings of its first clip at some offsets.
func found(r models.Researched, offsets ...models.Seconds) models.Researched {
	r.Findings = nil
	for _, o := range offsets {
		r.Findings = append(r.Findings, models.Finding{Episode: r.Episode, Clip: r.Clips[0], Occurrence: models.Occurrence{Offset: o, Duration: 2.5, Score: 0.9}})
	}
	return r
}

func failed(r models.Researched, scope models.Scope, reason string) models.Researched {
	r.Problem, r.Scope = reason, scope
	return r
}

// wantOffsets fails unless the findings are at these offsets, in this order.
func (w *world) wantOffsets(want ...models.Seconds) {
	w.Helper()
	list, err := w.Findings(w.ctx)
	w.ok(err)
	got := each(list, func(f catalog.Finding) models.Seconds { return f.Offset })
	if !slices.Equal(got, want) {
		w.Fatalf("findings at %v, want %v", got, want)
	}
}

// snapshot is all that can be seen of a catalog, to compare it before and after a call that must
// change nothing.
func (w *world) snapshot() []any {
	w.Helper()
	episodes, err1 := w.Episodes(w.ctx)
	clips, err2 := w.Clips(w.ctx)
	findings, err3 := w.Findings(w.ctx)
	problems, err4 := w.Problems(w.ctx)
	for _, err := range []error{err1, err2, err3, err4} {
		w.ok(err)
	}
	return []any{episodes, clips, findings, problems, w.totals()}
}

var ingestCases = []behaviour{
	{"a waveform is kept for its version of the episode, and asked for until it is there", func(w *world) {
		w.episodes("monday")
		w.clips("jingle", "spot")
		both := w.selects("monday", "jingle", "spot")
		if !both.Waveform {
			w.Fatal("the catalog has no waveform and does not ask for one")
		}
		wave := models.Waveform{Duration: 61.5, Peaks: []byte{0, 7, 255}}
		r := only(both, "The jingle")
		r.Waveform = &wave
		w.ingest(r)
		got, err := w.Waveform(w.ctx, r.Episode)
		w.ok(err)
		if !reflect.DeepEqual(got, wave) {
			w.Fatalf("got %+v", got)
		}
		if again := w.selects("monday", "spot"); again.Waveform {
			w.Fatal("the catalog asks for a waveform that it has")
		}
		w.episodes("monday@2")
		w.ingest(r)
		if _, err := w.Waveform(w.ctx, r.Episode); !errors.Is(err, fault.ErrNotFound) {
			w.Fatalf("of the former version: %v", err)
		}
		if again := w.selects("monday", "jingle", "spot"); !again.Waveform {
			w.Fatal("the catalog does not ask for the waveform of another version")
		}
		for _, bad := range []models.Waveform{{Duration: 1}, {Duration: 1, Peaks: make([]byte, models.MaxPeaks+1)}, {Peaks: []byte{1}}} {
			r.Waveform = &bad
			if err := w.Ingest(w.ctx, r, w.now); !errors.Is(err, fault.ErrInvalid) {
				w.Fatalf("%d peaks and %v s: %v", len(bad.Peaks), bad.Duration, err)
			}
		}
	}},
	{"a problem with a part of an episode keeps the findings, is listed once, and hides no later clip", func(w *world) {
		w.episodes("monday")
		w.clips("jingle", "spot")
		const reason = "monday.mp3: truncated: the sound breaks off at 0:05.00; searched up to there"
		both := w.selects("monday", "jingle", "spot")
		w.ingest(failed(found(only(both, "The jingle"), 1, 3), models.ScopePart, reason))
		w.ingest(failed(found(only(both, "The spot"), 2), models.ScopePart, reason))
		w.wantOffsets(1, 2, 3)
		problems, err := w.Problems(w.ctx)
		w.ok(err)
		if len(problems) != 1 || problems[0].Reason != reason || problems[0].EpisodeTitle != "The monday" || problems[0].ClipTitle != "" {
			w.Fatalf("%+v", problems)
		}
		w.clips("jingle", "spot", "new")
		w.ingest(found(result(w.selects("monday", "new")), 4))
		w.wantOffsets(1, 2, 3, 4)
	}},
	{"ingesting twice changes nothing", func(w *world) {
		w.episodes("monday")
		w.clips("jingle", "noise")
		both := w.selects("monday", "jingle", "noise")
		good := found(only(both, "The jingle"), 1, 7)
		bad := failed(only(both, "The noise"), models.ScopePair, "too long")
		w.ingest(good)
		w.ingest(bad)
		before := w.snapshot()
		w.now = w.now.Add(time.Hour)
		w.ingest(good)
		w.ingest(bad)
		if after := w.snapshot(); !reflect.DeepEqual(before, after) {
			w.Fatalf("before %+v\nafter %+v", before, after)
		}
	}},
	{"findings replace those of the same clip in the same episode", func(w *world) {
		w.episodes("monday", "tuesday")
		w.clips("jingle")
		r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 1})
		w.ok(err)
		w.ingest(found(result(r), 1, 2))
		other, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 1})
		w.ok(err)
		w.ingest(found(result(other), 9))
		w.ingest(found(result(r), 3))
		if got := w.totals().Findings; got != 2 {
			w.Fatalf("got %d findings, want 2", got)
		}
		w.ingest(found(result(r)))
		w.wantOffsets(9)
	}},
	{"each clip of a result is researched, found or not", func(w *world) {
		w.episodes("monday")
		w.clips("jingle", "advert", "news")
		r := w.selects("monday", "jingle", "advert", "news")
		w.ingest(only(r, "The advert"))
		w.selects("monday", "jingle", "news")
		if got := w.totals().Researched; got != 1 {
			w.Fatalf("got %d researched pairs", got)
		}
	}},
	{"a problem of a pair excludes that pair only", func(w *world) {
		w.clips("jingle", "advert")
		w.listRankedEpisodes([]string{"monday", "tuesday"}, 2, 1)
		r := w.selects("monday", "jingle", "advert")
		w.ingest(failed(only(r, "The jingle"), models.ScopePair, "longer than the episode"))
		w.ingest(result(w.selects("monday", "advert")))
		w.selects("tuesday", "jingle", "advert")
		w.wantReasons("monday: longer than the episode")
		if got := w.totals().Researched; got != 1 {
			w.Fatalf("got %d researched pairs, want 1", got)
		}
	}},
	{"a problem of an episode excludes the episode, and is there once", func(w *world) {
		w.clips("jingle", "advert")
		w.listRankedEpisodes([]string{"monday", "tuesday"}, 2, 1)
		r := w.selects("monday", "jingle", "advert")
		w.ingest(failed(only(r, "The jingle"), models.ScopeEpisode, "not audio"))
		w.ingest(failed(only(r, "The advert"), models.ScopeEpisode, "not audio"))
		w.selects("tuesday", "jingle", "advert")
		w.wantReasons("monday: not audio")
	}},
	{"a problem of a clip excludes the clip everywhere", func(w *world) {
		w.clips("jingle", "silence")
		w.listRankedEpisodes([]string{"monday", "tuesday"}, 2, 1)
		r := w.selects("monday", "jingle", "silence")
		w.ingest(failed(only(r, "The silence"), models.ScopeClip, "silent"))
		w.ingest(result(w.selects("monday", "jingle")))
		w.ingest(result(w.selects("tuesday", "jingle")))
		w.requireNothingLeft()
		w.wantReasons("silence: silent")
	}},
	{"a problem is lifted when its recording's version changes", func(w *world) {
		w.episodes("monday")
		w.clips("jingle", "silence", "long")
		r := w.selects("monday", "jingle", "silence", "long")
		w.ingest(failed(only(r, "The silence"), models.ScopeClip, "silent"))
		w.ingest(failed(only(r, "The long"), models.ScopePair, "too long"))
		w.ingest(failed(only(r, "The jingle"), models.ScopeEpisode, "not audio"))
		w.requireNothingLeft()
		w.episodes("monday@2")
		w.wantReasons("silence: silent")
		w.selects("monday", "jingle", "long")
		w.clips("jingle", "silence@2", "long")
		w.wantReasons()
		w.selects("monday", "jingle", "silence", "long")
	}},
	{"findings go with the version of a clip, and with that of an episode once it is researched again", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		w.ingest(found(result(w.selects("monday", "jingle")), 4))
		w.clips("jingle@2")
		w.wantOffsets()
		old := found(result(w.selects("monday", "jingle")), 5)
		w.ingest(old)
		w.episodes("monday@2")
		w.wantOffsets(5)
		if got := w.totals().Researched; got != 0 {
			w.Fatalf("got %d researched pairs", got)
		}
		w.ingest(old)
		w.wantOffsets(5)
		w.ingest(found(result(w.selects("monday", "jingle")), 6))
		w.wantOffsets(6)
	}},
	{"a researched pair stays so when a late problem comes", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		r := result(w.selects("monday", "jingle"))
		w.ingest(found(r, 4))
		w.ingest(failed(r, models.ScopePair, "late"))
		w.wantReasons()
		w.wantOffsets(4)
	}},
	{"a problem of several pairs is one of those that are not researched", func(w *world) {
		w.episodes("monday", "tuesday")
		w.clips("a", "b", "c", "d", "e", "f")
		for range 2 {
			r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
			w.ok(err)
			for _, name := range []string{"a", "b", "c", "e", "f"} {
				w.ingest(only(r, "The "+name))
			}
			w.ingest(failed(result(r), models.ScopePair, "late"))
		}
		all, err := w.Problems(w.ctx)
		w.ok(err)
		if len(all) != 2 || all[0].ClipID != clipID("d") || all[1].ClipID != clipID("d") {
			w.Fatalf("got %+v, want two of one clip", all)
		}
	}},
	{"a problem of an episode needs neither clips nor their versions", func(w *world) {
		w.clips("jingle")
		w.episodes("monday", "tuesday")
		for _, clips := range []bool{true, false} {
			r, _, err := w.Select(w.ctx, nil, catalog.Limits{Clips: 100})
			w.ok(err)
			bad := failed(result(r), models.ScopeEpisode, "not audio")
			bad.ClipMedia = nil
			if !clips {
				bad.Clips = nil
			}
			w.ingest(bad)
		}
		w.wantProblems(2)
		w.requireNothingLeft()
	}},
	{"a late result lifts the problem of its pair", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		r := result(w.selects("monday", "jingle"))
		w.ingest(failed(r, models.ScopePair, "early"))
		w.ingest(found(r, 4))
		w.wantReasons()
		w.wantOffsets(4)
		w.requireNothingLeft()
	}},
	{"a result for another version of the episode is dropped", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		r := result(w.selects("monday", "jingle"))
		w.episodes("monday@2")
		w.ingest(found(r, 1))
		w.ingest(failed(r, models.ScopeEpisode, "not audio"))
		w.ingest(failed(r, models.ScopePair, "too long"))
		w.wantOffsets()
		w.wantReasons()
		w.selects("monday", "jingle")
	}},
	{"of a result, what is for another version of a clip is dropped", func(w *world) {
		w.episodes("monday")
		w.clips("jingle", "advert")
		r := w.selects("monday", "jingle", "advert")
		w.clips("jingle@2", "advert")
		w.ingest(failed(only(r, "The jingle"), models.ScopeClip, "silent"))
		w.ingest(found(only(r, "The jingle"), 3))
		w.ingest(result(r))
		w.selects("monday", "jingle")
		w.wantReasons()
		w.wantOffsets()
	}},
	{"a result for unknown ids changes nothing", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		r := result(w.selects("monday", "jingle"))
		r.Clips, r.ClipMedia["nothing"] = append(r.Clips, "nothing"), models.MediaRef{}
		r.Episode = "nobody"
		w.ingest(r)
		r.Episode = episodeID("monday")
		w.selects("monday", "jingle")
		w.ingest(r)
		w.requireNothingLeft()
	}},
	{"a result for what is gone is kept for when it is listed again", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		r := result(w.selects("monday", "jingle"))
		w.episodes()
		w.ingest(found(r, 4))
		w.wantOffsets()
		w.episodes("monday")
		w.wantOffsets(4)
		w.requireNothingLeft()
	}},
	{"one stale clip of a result does not hide the others, wherever it is", func(w *world) {
		names := []string{"advert", "jingle", "noise"}
		for i, stale := range names {
			w.episodes("monday@" + fmt.Sprint(i))
			w.clips(names...)
			r := result(w.selects("monday", "advert", "jingle", "noise"))
			changed := slices.Clone(names)
			changed[i] = stale + "@2"
			w.clips(changed...)
			w.ingest(r)
			w.selects("monday", stale)
			w.clips(names...)
		}
	}},
	{"a finding at the beginning, of no length and without a score is kept", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		r := found(result(w.selects("monday", "jingle")), 0)
		r.Findings[0].Occurrence = models.Occurrence{}
		w.ingest(r)
		w.wantOffsets(0)
		r.Findings[0].Coverage = 1
		w.ingest(r)
		w.wantOffsets(0)
	}},
	{"hashes are taken from results, unless the catalog has one", func(w *world) {
		w.episodes("monday")
		w.clips("jingle")
		r := result(w.selects("monday", "jingle"))
		for _, hash := range []string{"sha256:aa", "sha256:bb"} {
			m := r.ClipMedia[r.Clips[0]]
			m.Hash, r.EpisodeMedia.Hash = hash, hash
			r.ClipMedia[r.Clips[0]] = m
			w.ingest(r)
			if e, c := w.oneEpisode().Media.Hash, w.oneClip().Media.Hash; e != "sha256:aa" || c != "sha256:aa" {
				w.Fatalf("got %q and %q", e, c)
			}
		}
		w.episodes("monday", "tuesday")
		if got := w.selects("tuesday", "jingle").Clips[0].Media.Hash; got != "sha256:aa" {
			w.Fatalf("the work carries hash %q", got)
		}
	}},
}
