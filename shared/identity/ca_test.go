package identity_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

func TestACAIsAFingerprintOrPEM(t *testing.T) {
	t.Parallel()
	ours := newTestCA(t)
	leaf, _ := ours.issue(t, identity.Worker)
	encode := func(certs ...*x509.Certificate) (text string) {
		for _, c := range certs {
			text += string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
		}
		return text
	}
	other := newTestCA(t)
	want := identity.FingerprintOf(ours.cert)
	both := identity.CAs{want, identity.FingerprintOf(other.cert)}
	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file, []byte(encode(ours.cert)), 0o600))
	for _, text := range []string{want.String(), encode(ours.cert), file} {
		got, err := identity.ParseCA(text)
		require.NoError(t, err, text)
		require.Equal(t, identity.CAs{want}, got)
	}
	for _, text := range []string{both.String(), strings.Replace(both.String(), ",", ", ", 1), encode(ours.cert, other.cert)} {
		got, err := identity.ParseCA(text)
		require.NoError(t, err, text)
		require.Equal(t, both, got)
	}
	for text, says := range map[string]string{
		"":                      "want a fingerprint of 32 characters",
		want.String()[1:]:       "want a fingerprint of 32 characters",
		file + "x":              "no such file",
		"-----BEGIN":            "want a certificate as PEM",
		encode(leaf):            "not one of a CA",
		want.String() + ",":     "want a fingerprint of 32 characters",
		encode(ours.cert, leaf): "not one of a CA",
		encode(ours.cert, ours.cert, ours.cert, ours.cert, ours.cert): "there are 5 CAs, want at most 4",
		t.TempDir(): "is a directory",
	} {
		_, err := identity.ParseCA(text)
		require.ErrorIs(t, err, fault.ErrInvalid, text)
		require.ErrorContains(t, err, says, text)
	}
}

func TestATokenIsReadFromAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("lht-x\n"), 0o600))
	for text, want := range map[string]string{"lht-x ": "lht-x", "@" + file: "lht-x", "": ""} {
		got, err := identity.ReadToken(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := identity.ReadToken("@none")
	require.ErrorIs(t, err, fault.ErrInvalid)
}
