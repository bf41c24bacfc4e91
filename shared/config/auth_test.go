package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestFault46ACoordinatorAuthenticatesBeyondItsMachine(t *testing.T) {
	alone(t)
	for _, c := range []struct {
		args []string
		want bool
	}{
		{nil, false},
		{[]string{"--auth"}, true},
		{[]string{"--listen=0.0.0.0"}, true},
		{[]string{"--http=10.0.0.1:80"}, true},
		{[]string{"--compat-listen=10.0.0.1"}, true},
		{[]string{"--listen=0.0.0.0", "--insecure"}, false},
		{[]string{"--insecure"}, false},
	} {
		loaded, err := load(t, c.args...)
		require.NoError(t, err)
		require.Equal(t, c.want, loaded.Authenticates(), c.args)
	}
}

func TestASecretMayBeInAFile(t *testing.T) {
	alone(t)
	file := filepath.Join(t.TempDir(), "worker.join")
	require.NoError(t, os.WriteFile(file, []byte("  lh1-worker-line\n"), 0o600))
	for text, want := range map[string]string{"": "", "@" + file: "lh1-worker-line", " lh1-x ": "lh1-x"} {
		got, err := Config{Join: text, Token: text}.JoinLine()
		require.NoError(t, err)
		require.Equal(t, want, got)
		got, err = Config{Token: text}.TokenText()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := Config{Join: "@" + file + ".missing"}.JoinLine()
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.NoError(t, os.Truncate(file, maxSecret+1))
	_, err = Config{Token: "@" + file}.TokenText()
	require.ErrorContains(t, err, "want at most 65536")
}

func TestASecretIsNotShown(t *testing.T) {
	alone(t)
	t.Setenv("LEASEHOLD_JOIN", "lh1-secret")
	loaded, err := load(t)
	require.NoError(t, err)
	for _, v := range loaded.Values() {
		require.NotContains(t, v.Value, "lh1-secret")
		if v.Key == "join" {
			require.Equal(t, "(secret)", v.Value)
		}
	}
}

func TestOnlyFlagsWithASecretAreShownToOtherUsers(t *testing.T) {
	alone(t)
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("lht-x"), 0o600))
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, nil},
		{[]string{"--token=lht-x", "--join=lh1-x"}, []string{"join", "token"}},
		{[]string{"--token=@" + file}, nil},
	} {
		loaded, err := load(t, c.args...)
		require.NoError(t, err)
		require.Equal(t, c.want, loaded.SecretFlags(), c.args)
	}
	t.Setenv("LEASEHOLD_TOKEN", "lht-x")
	loaded, err := load(t)
	require.NoError(t, err)
	require.Equal(t, "lht-x", loaded.Token)
	require.Empty(t, loaded.SecretFlags())
}
