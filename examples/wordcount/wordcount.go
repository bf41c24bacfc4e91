// Package wordcount counts the words of text files: mappers count in one file each, a reducer
// adds up.
package wordcount

import (
	"context"
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"leasehold/examples/course"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

//go:embed *.txt
var texts embed.FS

const files = 3

// Program has two mappers and a reducer.
var Program = course.Program{
	Spaces: map[string]space.Options{"file": {}, "count": {}},
	First:  putFiles,
	Roles:  []course.Role{{Name: "mapper", Count: 2, Endless: true, Run: count}, {Name: "reducer", Run: add}},
}

var named = tuple.Match(tuple.AnyString, tuple.AnyString)

// putFiles puts each file as one tuple of its name and its text.
func putFiles(ctx context.Context, m *course.Member) error {
	for _, name := range []string{"one.txt", "two.txt", "three.txt"} {
		text, err := texts.ReadFile(name)
		if err != nil {
			return err
		}
		if err := m.Space("file").Put(ctx, tuple.New(name, string(text)), 0); err != nil {
			return err
		}
	}
	return nil
}

// count takes one file after another, and puts its counts as one tuple. It ends with ctx.
func count(ctx context.Context, m *course.Member) error {
	for {
		file, err := m.Space("file").Get(ctx, named)
		if err != nil {
			return err
		}
		words := map[string]int{}
		for word := range strings.FieldsSeq(strings.ToLower(file.Str(1))) {
			words[strings.Trim(word, ".,")]++
		}
		counts, err := json.Marshal(words)
		if err != nil {
			return err
		}
		if err := m.Space("count").Put(ctx, tuple.New(file.Str(0), string(counts)), 0); err != nil {
			return err
		}
	}
}

// add waits for the counts of all files, and prints the words that occur more than once, in alphabetical order.
func add(ctx context.Context, m *course.Member) error {
	total := map[string]int{}
	for range files {
		counts, err := m.Space("count").Get(ctx, named)
		if err != nil {
			return err
		}
		words := map[string]int{}
		if err := json.Unmarshal([]byte(counts.Str(1)), &words); err != nil {
			return err
		}
		for word, n := range words {
			total[word] += n
		}
	}
	for _, word := range slices.Sorted(maps.Keys(total)) {
		if total[word] > 1 {
			m.Print("%s %d", word, total[word])
		}
	}
	return nil
}
