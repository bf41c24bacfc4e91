package index_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/landmark"
	"leasehold/shared/fault"
)

// FuzzOpen opens images with arbitrary tables and postings. If an image opens, the Index must
// be usable.
func FuzzOpen(f *testing.F) {
	built := built(f, noise(1, index.RateHz/2), noise(2, index.RateHz/4))
	image := written(f, built, filepath.Join(f.TempDir(), "x"))
	tables := 64 + 2*20 + 2*6 + 20*len(built.Variants()) // header, clips, names, variants
	f.Add(image[:tables], image[tables+4<<landmark.HashBits+4:][:400])
	f.Add(image[:tables], []byte{})
	f.Add(image[:tables], []byte{1: 3}) // a posting in the unused rest of the first variant's unit
	f.Add(image[:64], []byte("postings"))
	f.Fuzz(func(t *testing.T, begin, end []byte) {
		x, err := index.OpenPadded(begin, end)
		if err != nil {
			if !errors.Is(err, fault.ErrInvalid) && !errors.Is(err, fault.ErrCorrupt) {
				t.Fatalf("%v is of no kind", err)
			}
			return
		}
		if x == nil {
			return
		}
		for i := range x.Clips() {
			if n := len(x.Wave(i)); n != x.Samples(i) || x.Variants()[x.Own(i)].Clip != i {
				t.Fatal(fmt.Sprint("clip ", i, " has ", n, " samples"), x.ID(i))
			}
		}
		last := x.Postings(1<<landmark.HashBits - 1)
		for i := range last.Len() {
			if v := x.Variants()[x.Owner(last.At(i))]; int(last.At(i)) >= v.Base+v.Frames {
				t.Fatal("a posting lies behind its variant ", v)
			}
		}
	})
}
