package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"leasehold/shared/api/types"
)

// PowerShell and editors of Windows write a byte order mark in front of UTF-8.
func TestTheDataOfATaskMayBeginWithAByteOrderMark(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "data.json")
	require.NoError(t, os.WriteFile(name, []byte("\ufeff{\"n\": 1}\r\n"), 0o600))
	for argument, stdin := range map[string]string{"@" + name: "", "@-": "\ufeff{\"n\": 1}"} {
		data, err := readData(argument, strings.NewReader(stdin))
		require.NoError(t, err)
		require.JSONEq(t, `{"n": 1}`, string(data))
	}
}

func TestAnEmptyFileIsNoData(t *testing.T) {
	t.Parallel()
	_, err := readData("@-", strings.NewReader(""))
	require.EqualError(t, err, "data @-: want JSON; it is empty")
}

func TestTheElementsOfAListHaveNoSpacesAround(t *testing.T) {
	t.Parallel()
	var list []string
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	listVar(f, &list, "limits", "")
	require.NoError(t, f.Parse([]string{"--limits", "a , b,\tc d "}))
	require.Equal(t, []string{"a", "b", "c d"}, list)
	require.ErrorIs(t, (&listValue{&list}).Set("a, ,b"), errEmptyValue)
}

func TestATaskThatWasCancelledWithoutAReasonIsNotToldTwice(t *testing.T) {
	t.Parallel()
	require.EqualError(t, endedAs(types.Task{ID: "t1", State: "cancelled", Note: "cancelled"}), "task t1 is cancelled")
	require.EqualError(t, endedAs(types.Task{ID: "t1", State: "dead", Note: "no disk"}), "task t1 is dead: no disk")
}
