package doctor_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/cmd/doctor"
	"leasehold/shared/process/datadir"
)

func examine(t *testing.T, f doctor.Folders) map[string]doctor.Finding {
	t.Helper()
	all := map[string]doctor.Finding{}
	for _, found := range doctor.Examine(t.Context(), f) {
		all[found.Check] = found
		require.NotEmpty(t, found.What, found.Check)
		require.Contains(t, []doctor.State{doctor.OK, doctor.Warn, doctor.Fail}, found.State)
	}
	return all
}

func TestAMachineThatHasEverything(t *testing.T) {
	dir := t.TempDir()
	all := examine(t, doctor.Folders{Data: dir})
	for _, check := range []string{"data folder", "clock", "processors", "git", "ffmpeg", "decodes WAV", "decodes AIFF", "decodes FLAC", "decodes MP3"} {
		require.Equal(t, doctor.OK, all[check].State, "%+v", all[check])
	}
	left, err := filepath.Glob(filepath.Join(dir, ".doctor-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAMissingDataFolderIsNotCreated(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	require.Equal(t, doctor.OK, examine(t, doctor.Folders{Data: dir})["data folder"].State)
	require.NoDirExists(t, dir)
}

func TestADataFolderThatCannotBeCreated(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	all := doctor.Examine(t.Context(), doctor.Folders{Data: filepath.Join(file, "data")})
	require.True(t, doctor.Failed(all))
	require.Equal(t, "data folder", all[0].Check)
	require.NotEmpty(t, all[0].Advice)
}

func TestADataFolderThatIsALinkToNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink("nowhere", dir))
	all := doctor.Examine(t.Context(), doctor.Folders{Data: dir})
	require.Equal(t, doctor.Fail, all[0].State)
	require.Contains(t, all[0].What, "link to nowhere, which leads to nothing")
}

func TestADataFolderInUseNamesTheProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release, err := datadir.Lock(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, release()) }()
	found := examine(t, doctor.Folders{Data: dir})["data folder"]
	require.Equal(t, doctor.OK, found.State)
	require.Contains(t, found.What, fmt.Sprint("in use by process ", os.Getpid()))
}

func TestWithoutFFmpegAndWithABrokenOne(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	all := examine(t, doctor.Folders{Data: t.TempDir()})
	require.Equal(t, doctor.Warn, all["ffmpeg"].State)
	require.Equal(t, doctor.Warn, all["git"].State)
	require.Contains(t, all["git"].What, "go-git")
	require.Contains(t, all["decodes MP3"].What, "by this program: slowly")
	require.False(t, doctor.Failed(doctor.Examine(t.Context(), doctor.Folders{Data: t.TempDir()})))

	for script, want := range map[string]string{
		"exit 3":                            "exit status 3",
		"echo":                              "does not say its version",
		"echo ffmpeg version 9.9 Copyright": "9.9, without mp3float",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "ffmpeg"), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
		t.Setenv("PATH", dir)
		found := examine(t, doctor.Folders{Data: t.TempDir()})["ffmpeg"]
		require.Equal(t, doctor.Warn, found.State)
		require.Contains(t, found.What, want)
		require.NotEmpty(t, found.Advice)
	}
}

func Example() {
	for _, f := range doctor.Examine(context.Background(), doctor.Folders{Data: "/nowhere/leasehold"}) {
		if f.Check == "decodes WAV" {
			fmt.Println(f.Check, f.State, f.What)
		}
	}
	// Output: decodes WAV ok by this program
}
