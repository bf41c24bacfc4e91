package set

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"leasehold/shared/fault"
)

// builder builds one set.
type builder struct {
	recipe     Recipe
	rand       *rand.Rand
	log        *slog.Logger
	set        *Set
	packages   string // folder that sources are named from
	scratch    string
	count      int // clips so far
	background *background
	lastPath   string
	last       []float32
}

// Build makes the set of a recipe below the folder work, and returns its truth. If the set is
// already there, Build only loads it. Building takes minutes, and logs each step. After an error,
// the next call builds the set again from the start.
func Build(ctx context.Context, r Recipe, work string, log *slog.Logger) (*Set, error) {
	dir := filepath.Join(work, "sets", r.folder())
	if s, err := Load(dir); err == nil {
		return s, nil
	}
	if err := os.MkdirAll(filepath.Join(dir, "clips"), 0o755); err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp(dir, "scratch-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // if it fails, the leftover does no harm
	b := &builder{
		recipe: r, rand: rand.New(rand.NewPCG(r.Seed, 1)), log: log, scratch: scratch,
		packages: filepath.Join(work, "packages"),
		set:      &Set{Dir: dir, Name: r.Name, Version: version, Seed: r.Seed},
	}
	if err := b.build(ctx, work); err != nil {
		return nil, fmt.Errorf("set.Build %s: %w", r.Name, err)
	}
	return b.set, nil
}

// build draws and writes the set, in an order that must not change, because all draws come from one
// generator: the pools, the clips and backgrounds, the turns, the episodes with clips, then those
// without. Each episode has about as many turns and a bitrate of its own. The truth is saved last,
// because its presence marks a complete set.
func (b *builder) build(ctx context.Context, work string) error {
	pools, err := b.pools(ctx, work)
	if err != nil {
		return err
	}
	b.background = &background{
		rand: b.rand, speech: &recording{rand: b.rand, kind: Speech, pause: maxPause}, music: &recording{rand: b.rand, kind: Music},
	}
	if err := b.choose(ctx, pools); err != nil {
		return err
	}
	turns := b.turns()
	share := (len(turns) + len(b.recipe.Kbps) - 1) / len(b.recipe.Kbps)
	for part := range slices.Chunk(turns, share) {
		i := len(b.set.Episodes)
		b.log.Info("mix", "set", b.recipe.Name, "episode", i+1)
		e, err := b.episode(ctx, i+1, b.recipe.Kbps[i], part)
		if err != nil {
			return err
		}
		b.set.Episodes = append(b.set.Episodes, e)
	}
	for i := 0; float64(i)*3600 < b.recipe.FreeS; i++ {
		b.log.Info("mix", "set", b.recipe.Name, "clip-free episode", i+1)
		e, err := b.free(ctx, i+1, min(3600, b.recipe.FreeS-float64(i)*3600))
		if err != nil {
			return err
		}
		b.set.Episodes = append(b.set.Episodes, e)
	}
	return b.set.save()
}

// pools fetches the materials and divides their files into clips and backgrounds, and notes the
// versions of the packages.
func (b *builder) pools(ctx context.Context, work string) ([]pool, error) {
	var all []pool
	for _, m := range b.recipe.Materials {
		dir := m.Dir
		if m.Package != "" {
			b.log.Info("fetch", "package", m.Package)
			root, version, err := fetch(ctx, work, m.Package)
			if err != nil {
				return nil, err
			}
			dir = filepath.Join(root, m.Dir)
			if !slices.Contains(b.set.Packages, version) {
				b.set.Packages = append(b.set.Packages, version)
			}
		}
		files, err := soundFiles(dir)
		if err != nil {
			return nil, err
		}
		if len(files) < 2 {
			return nil, fmt.Errorf("%d sound files in %s: expected at least 2: %w", len(files), dir, fault.ErrInvalid)
		}
		all = append(all, split(b.rand, m, files))
	}
	return all, nil
}

// choose picks the clips and the backgrounds of each kind, and relates the clips to each other. The
// pools of a kind share its number of clips: each gets its part of those that the pools before it
// have left. Clips that the background contains are left out, because their places would not be
// known. Sounds that clips share are sought in music and effects only, because speech has none.
func (b *builder) choose(ctx context.Context, pools []pool) error {
	for _, kind := range []Kind{Speech, Music, Effect} {
		var clips []candidate
		var backgrounds []string
		left, quota := 0, b.recipe.Clips[kind]
		for _, p := range pools {
			left += btoi(p.kind == kind)
		}
		for _, p := range pools {
			if p.kind != kind {
				continue
			}
			some, err := b.pick(ctx, p, (quota-len(clips))/left)
			if err != nil {
				return err
			}
			left--
			clips, backgrounds = append(clips, some...), append(backgrounds, p.backgrounds...)
		}
		b.rand.Shuffle(len(backgrounds), func(i, j int) { backgrounds[i], backgrounds[j] = backgrounds[j], backgrounds[i] })
		files, wave, err := enough(ctx, backgrounds, b.recipe.BackgroundS)
		if err != nil {
			return err
		}
		switch kind {
		case Speech:
			b.background.speech.files = files
		case Music:
			b.background.music.files = files
		}
		b.log.Info("compare", "kind", kind, "clips", len(clips), "background files", len(files))
		if clips, err = withoutBackgrounds(ctx, clips, wave); err != nil {
			return err
		}
		relations, err := relate(ctx, clips)
		if err != nil {
			return err
		}
		if kind != Speech {
			shared := parts(clips)
			joinClasses(clips, shared)
			relations = append(relations, shared...)
		}
		b.set.Relations = append(b.set.Relations, relations...)
		b.keep(clips)
	}
	return nil
}

// keep adds clips to the set, and marks half of them to be played.
func (b *builder) keep(clips []candidate) {
	order := b.rand.Perm(len(clips))
	for i, c := range clips {
		c.Played = order[i] < len(clips)/2
		b.set.Clips = append(b.set.Clips, c.Clip)
	}
}
