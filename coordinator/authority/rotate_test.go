package authority

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

const week = 7 * 24 * time.Hour

// knowing returns the configuration of a process that trusts some CAs, and has a certificate or nil.
func knowing(c *clock, certificate *tls.Certificate, cas ...identity.Fingerprint) *tls.Config {
	return identity.FleetConfig(identity.Coordinator, func() identity.CAs { return cas }, func() *tls.Certificate { return certificate }, c.now)
}

func TestWhileTheCAChangesProcessesThatKnowEitherAreAdmitted(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	server := a.ServerConfig(noNames)
	former, before := a.Fingerprint(), certified(t, a, identity.Worker)
	requirePeer(t, a, connect(t, server, knowing(c, before, former)), identity.Worker, false)

	require.NoError(t, a.Rotate(c.at.Add(week), nil))
	current, during := a.Fingerprint(), certified(t, a, identity.Worker)
	require.NotEqual(t, former, current)
	got, end := a.Former()
	require.Equal(t, former, got)
	require.Equal(t, c.at.Add(week), end)
	require.Equal(t, c.at, a.Created())
	require.Equal(t, identity.CAs{current, former}, identity.IssuersOf(during, c.at))
	for _, own := range []*tls.Certificate{before, during} {
		for _, known := range []identity.Fingerprint{former, current} {
			m := connect(t, server, knowing(c, own, known))
			if own == before && known == current {
				requireMet(t, m)
				require.Empty(t, m.server.PeerCertificates, "a certificate of a CA that is not trusted is not presented")
				continue
			}
			requirePeer(t, a, m, identity.Worker, false)
		}
	}

	c.after(week)
	_, end = a.Former()
	require.Zero(t, end)
	m := connect(t, server, knowing(c, before, former))
	require.ErrorContains(t, m.clientErr, "has another identity (fingerprint "+current.String()+")")
	m = connect(t, server, presenting(a, c, before))
	require.ErrorContains(t, m.serverErr, "is of another coordinator, want one of the CA "+current.String())
	requirePeer(t, a, connect(t, server, knowing(c, during, current)), identity.Worker, true)
	require.Equal(t, identity.CAs{current}, identity.IssuersOf(during, c.at))
	require.Equal(t, identity.CAs{current}, identity.IssuersOf(certified(t, a, identity.Worker), c.at))
}

func TestACertificateOfTheFormerCAEndsWithIt(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	former := a.Fingerprint()
	require.NoError(t, a.Rotate(c.at.Add(time.Hour), nil))
	worker := certified(t, a, identity.Worker)
	twin, err := x509.ParseCertificate(worker.Certificate[2])
	require.NoError(t, err)
	require.Equal(t, start.Add(time.Hour), twin.NotAfter)
	require.Equal(t, start.Add(24*time.Hour), worker.Leaf.NotAfter)
	require.True(t, identity.IssuersOf(worker, start.Add(time.Hour-time.Second)).Has(former))
	require.False(t, identity.IssuersOf(worker, start.Add(time.Hour)).Has(former))
}

func TestPeopleSeeACertificateOfTheFormerCAUntilItsEnd(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	server := a.ServerConfig(noNames)
	browser := func(pem []byte) *tls.Config {
		roots := x509.NewCertPool()
		require.True(t, roots.AppendCertsFromPEM(pem))
		return &tls.Config{RootCAs: roots, ServerName: "localhost", Time: c.now}
	}
	before := a.CertificatePEM()
	require.NoError(t, a.Rotate(c.at.Add(week), nil))
	both := a.CertificatePEM()
	require.Equal(t, 2, strings.Count(string(both), "BEGIN CERTIFICATE"))
	require.NotContains(t, string(both), endHeader, "OpenSSL reads no certificate with a header")
	requireMet(t, connect(t, server, browser(before)))
	requireMet(t, connect(t, server, browser(both)))
	c.after(week)
	requireMet(t, connect(t, server, browser(both)))
	require.Error(t, connect(t, server, browser(before)).clientErr)
	require.Equal(t, 1, strings.Count(string(a.CertificatePEM()), "BEGIN CERTIFICATE"))
}

func TestAChangeOfTheCAStaysInTheFolder(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	former := a.Fingerprint()
	require.NoError(t, a.Rotate(c.at.Add(week), nil))
	again, err := Open(a.dir, c.now)
	require.NoError(t, err)
	require.Equal(t, a.Fingerprint(), again.Fingerprint())
	got, end := again.Former()
	require.Equal(t, former, got)
	require.Equal(t, start.Add(week), end)
	require.Equal(t, a.CertificatePEM(), again.CertificatePEM())

	c.after(week)
	again, err = Open(a.dir, c.now)
	require.NoError(t, err)
	require.Equal(t, a.Fingerprint(), again.Fingerprint())
	require.NoError(t, again.Tidy())
	requireBlocks(t, a.dir, 1, 1)
	again, err = Open(a.dir, c.now)
	require.NoError(t, err)
	require.False(t, again.untidy)
	require.Equal(t, a.Fingerprint(), again.Fingerprint())
}

// requireBlocks fails unless the files in a folder have so many keys and certificates, and are the only ones.
func requireBlocks(t *testing.T, dir string, keys, certificates int) {
	t.Helper()
	for name, n := range map[string]int{KeyFile: keys, CertificateFile: certificates} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, n, strings.Count(string(data), "-----BEGIN"), name)
		requireMode(t, filepath.Join(dir, name), 0o600)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
}

func TestASecondChangeWaitsForTheEndOfTheFirst(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	require.NoError(t, a.Rotate(c.at.Add(week), nil))
	second := a.Fingerprint()
	err := a.Rotate(c.at.Add(week), nil)
	require.ErrorIs(t, err, fault.ErrConflict)
	require.ErrorContains(t, err, "the CA before this one is accepted until 2026-12-06T12:00:00Z")
	require.Equal(t, second, a.Fingerprint())

	require.NoError(t, a.Rotate(c.at, nil), "a stolen key has to go at once")
	_, end := a.Former()
	require.Zero(t, end)
	require.NotEqual(t, second, a.Fingerprint())
	again, err := Open(a.dir, c.now)
	require.NoError(t, err)
	require.Equal(t, a.CertificatePEM(), again.CertificatePEM())
	require.NoError(t, again.Tidy())
	requireBlocks(t, a.dir, 1, 1)

	require.NoError(t, a.Rotate(c.at.Add(week), nil))
	c.after(week)
	require.NoError(t, a.Rotate(c.at.Add(week), nil), "the first has ended")
}

// TestACrashLeavesThePreviousCAsOrTheNewOnes ends a change before each of its steps, and within each.
func TestACrashLeavesThePreviousCAsOrTheNewOnes(t *testing.T) {
	t.Parallel()
	for _, end := range []time.Duration{0, week} {
		c := at(0)
		_, all := newAuthority(t, c).rotation(c.at, c.at.Add(end), nil)
		changed := 0
		for n := range len(all) + 1 {
			a := newAuthority(t, c)
			before := a.Fingerprint()
			next, steps := a.rotation(c.at, c.at.Add(end), nil)
			for _, step := range steps[:n] {
				require.NoError(t, step())
			}
			for _, name := range []string{KeyFile, CertificateFile} { // within the next step
				require.NoError(t, os.WriteFile(filepath.Join(a.dir, name+identity.UnfinishedSuffix), []byte("-----BEGIN"), 0o600))
			}
			again, err := Open(a.dir, c.now)
			require.NoError(t, err, "after %d steps", n)
			require.NoError(t, again.Tidy())
			want := 1
			if again.Fingerprint() != before {
				changed++
				require.Equal(t, identity.FingerprintOf((*next)[0].cert), again.Fingerprint())
				want = len(*next)
			}
			requireBlocks(t, a.dir, want, want)
			require.NoError(t, again.Rotate(c.at, nil), "after %d steps", n)
		}
		require.Equal(t, 1, changed, "only after the last step")
	}
}

func TestAChangeThatCannotBeRecordedChangesNothing(t *testing.T) {
	t.Parallel()
	c := at(0)
	a := newAuthority(t, c)
	before, next := a.Fingerprint(), identity.Fingerprint{}
	record := func(err error) func(identity.Fingerprint) error {
		return func(f identity.Fingerprint) error {
			again, openErr := Open(a.dir, c.now)
			require.NoError(t, openErr)
			require.Equal(t, before, again.Fingerprint(), "it is recorded before it is written")
			next = f
			return err
		}
	}
	require.ErrorIs(t, a.Rotate(c.at, record(fault.ErrOverloaded)), fault.ErrOverloaded)
	require.Equal(t, before, a.Fingerprint())
	require.NoError(t, a.Rotate(c.at, record(nil)))
	require.Equal(t, next, a.Fingerprint())
}

func TestADamagedFormerCAIsNamed(t *testing.T) {
	t.Parallel()
	c := at(0)
	for change, want := range map[[2]string]string{
		{endHeader + ": 2026", endHeader + ": soon"}: "certificate 2: Accepted-Until",
		{endHeader + ": ", "Other: "}:                "certificate 2: Accepted-Until",
	} {
		a := newAuthority(t, c)
		require.NoError(t, a.Rotate(c.at.Add(week), nil))
		file := filepath.Join(a.dir, CertificateFile)
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(data), change[0], change[1], 1)), 0o600))
		_, err = Open(a.dir, c.now)
		require.ErrorIs(t, err, fault.ErrCorrupt)
		require.ErrorContains(t, err, want)
	}
	a := newAuthority(t, c)
	keyOfFormer, err := os.ReadFile(filepath.Join(a.dir, KeyFile))
	require.NoError(t, err)
	require.NoError(t, a.Rotate(c.at.Add(week), nil))
	keys, err := os.ReadFile(filepath.Join(a.dir, KeyFile))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, KeyFile), []byte(strings.Replace(string(keys), string(keyOfFormer), "", 1)), 0o600))
	_, err = Open(a.dir, c.now)
	require.ErrorContains(t, err, "are not of the same CA")
	c.after(week)
	_, err = Open(a.dir, c.now)
	require.NoError(t, err, "the key of a CA that has ended is not needed")
}
