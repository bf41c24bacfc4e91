package admission_test

import (
	"crypto/ed25519"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	"leasehold/shared/access"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqldb/sqldbtest"
	"leasehold/shared/fault"
)

// fixture is a store in a file whose clock the test sets.
type fixture struct {
	*testing.T
	*admission.Store
	path  string
	clock time.Time
	file  sqldb.Database
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{T: t, path: filepath.Join(t.TempDir(), "catalog.db"), clock: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	h.open()
	t.Cleanup(func() { require.NoError(t, h.file.Close()) })
	return h
}

func (h *fixture) open() {
	h.Helper()
	h.file = sqldbtest.Open(h.T, h.path, admission.Schema())
	var err error
	h.Store, err = admission.New(h.Context(), h.file, func() time.Time { return h.clock })
	require.NoError(h, err)
}

// reopen opens the file again, as a coordinator does that is started again.
func (h *fixture) reopen() {
	h.Helper()
	require.NoError(h, h.file.Close())
	h.open()
}

func (h *fixture) invite(i admission.Invite) admission.Invite {
	h.Helper()
	made, err := h.CreateInvite(h.Context(), i, "secret of "+i.ID)
	require.NoError(h, err)
	return made
}

// key returns the public key with a number.
func key(n byte) ed25519.PublicKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	return ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
}

// join has a key join, with a certificate of a day.
func (h *fixture) join(invite string, n byte) (admission.Peer, error) {
	return h.Join(h.Context(), invite, "secret of "+invite, key(n), fmt.Sprint("host-", n), h.clock.Add(24*time.Hour))
}

const month = 30 * 24 * time.Hour

func TestATokenProvesItsIdentity(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	made, secret, err := h.CreateToken(t.Context(), admission.Token{Name: "ci", Roles: access.Producer | access.Worker, Spaces: []string{"chess-", "go-"}, Expires: h.clock.Add(month)})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(secret, "lht-") && len(secret) == 4+52, secret)
	want := access.Identity{ID: made.ID, Name: "ci", Roles: access.Producer | access.Worker, Spaces: []string{"chess-", "go-"}}
	for range 2 {
		i, err := h.ByToken(secret)
		require.NoError(t, err)
		require.Equal(t, want, i)
		require.Equal(t, []admission.Token{made}, h.Tokens())
		h.reopen()
	}
	h.clock = h.clock.Add(month)
	_, err = h.ByToken(secret)
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.ErrorContains(t, err, "token ci has ended at 2030-01-31")
	require.NotContains(t, err.Error(), secret)
}

func TestARevokedTokenAndAnInventedOneProveNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, secret, err := h.CreateToken(t.Context(), admission.Token{Name: "ci", Roles: access.Reader})
	require.NoError(t, err)
	_, err = h.RevokeToken(t.Context(), "ci")
	require.NoError(t, err)
	for range 2 {
		for _, text := range []string{secret, "", "lht-", secret + "a", strings.ToUpper(secret)} {
			_, err = h.ByToken(text)
			require.ErrorIs(t, err, fault.ErrUnauthenticated)
		}
		h.reopen()
	}
	_, err = h.RevokeToken(t.Context(), "ci")
	require.ErrorIs(t, err, fault.ErrNotFound)
}

func TestTokensThatCannotBeMadeAreNamed(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for says, token := range map[string]admission.Token{
		"name":                        {Name: "a b", Roles: access.Reader},
		"want a role":                 {Name: "a"},
		"which has passed":            {Name: "a", Roles: access.Reader, Expires: h.clock},
		"21 prefixes of spaces":       {Name: "a", Roles: access.Reader, Spaces: make([]string, 21)},
		`prefix "" of spaces`:         {Name: "a", Roles: access.Reader, Spaces: []string{""}},
		`prefix "a,b" of spaces`:      {Name: "a", Roles: access.Reader, Spaces: []string{"a,b"}},
		"want 1 to 100 bytes without": {Name: "a", Roles: access.Reader, Spaces: []string{strings.Repeat("a", 101)}},
	} {
		_, _, err := h.CreateToken(t.Context(), token)
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, says)
	}
	_, _, err := h.CreateToken(t.Context(), admission.Token{Name: "a", Roles: access.Reader})
	require.NoError(t, err)
	_, _, err = h.CreateToken(t.Context(), admission.Token{Name: "a", Roles: access.Admin})
	require.ErrorIs(t, err, fault.ErrConflict)
}

// A role that a later version has may be in a file that an earlier one opens.
func TestATokenWithARoleThatIsGoneProvesNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, secret, err := h.CreateToken(t.Context(), admission.Token{Name: "ci", Roles: access.Reader})
	require.NoError(t, err)
	require.NoError(t, h.file.Write(t.Context(), "test", func(c *sqldb.Conn) error { return c.Exec("UPDATE token SET roles = 'auditor'") }))
	h.reopen()
	_, err = h.ByToken(secret)
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.ErrorContains(t, err, "a role that this version does not have")
	require.Len(t, h.Tokens(), 1)
}

func TestTheAdminsTokenIsInNoTable(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, err := h.ByToken("")
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	secret := admission.NewAdminSecret()
	h.SetAdmin(secret)
	i, err := h.ByToken(secret)
	require.NoError(t, err)
	require.Equal(t, admission.Admin, i)
	require.Empty(t, h.Tokens())
}

func TestAProcessJoinsByItsInvite(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.invite(admission.Invite{ID: "a", Role: access.Worker, Expires: h.clock.Add(24 * time.Hour)})
	p, err := h.join("a", 1)
	require.NoError(t, err)
	require.Equal(t, admission.Peer{ID: admission.PeerID(key(1)), Role: access.Worker, Name: "host-1", Invite: "a", Joined: h.clock, Seen: h.clock, Ends: h.clock.Add(24 * time.Hour)}, p)
	h.reopen()
	i, err := h.ByPeer(p.ID)
	require.NoError(t, err)
	require.Equal(t, access.Identity{ID: p.ID, Name: "host-1", Roles: access.Worker}, i)
	_, err = h.ByPeer("peer-x")
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	h.clock = h.clock.Add(24 * time.Hour)
	_, err = h.join("a", 2)
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.ErrorContains(t, err, "the invite a has ended at 2030-01-02T00:00:00Z; make another one (leasehold invite worker)")
}

func TestAUseIsCountedOnceForEachKey(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.invite(admission.Invite{ID: "a", Role: access.Worker, Uses: 2})
	for range 3 { // the answer was lost
		for n := range byte(2) {
			_, err := h.join("a", n)
			require.NoError(t, err)
		}
		_, err := h.join("a", 2)
		require.ErrorIs(t, err, fault.ErrUnauthenticated)
		require.ErrorContains(t, err, "was used by 2 processes, the maximum")
	}
	all, err := h.Invites(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, all[0].Used)
	require.Equal(t, h.clock, all[0].Latest)
	require.Len(t, h.Peers(false), 2)
}

func TestAKeyThatJoinsByAnotherInviteInBetweenCountsOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, id := range []string{"a", "b"} {
		h.invite(admission.Invite{ID: id, Role: access.Worker, Uses: 1})
	}
	for _, id := range []string{"a", "b", "a", "b"} {
		p, err := h.join(id, 1)
		require.NoError(t, err)
		require.Equal(t, id, p.Invite)
	}
	all, err := h.Invites(t.Context())
	require.NoError(t, err)
	for _, i := range all {
		require.Equal(t, 1, i.Used, i.ID)
	}
	require.NoError(t, h.RevokeInvite(t.Context(), "a"))
	h.invite(admission.Invite{ID: "a", Role: access.Worker, Uses: 1})
	_, err = h.join("a", 2)
	require.NoError(t, err, "what a revoked invite counted does not count for another one")
	_, err = h.join("a", 1)
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
}

func TestAWrongSecretAndAWrongIDHaveTheSameError(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.invite(admission.Invite{ID: "a", Role: access.Worker})
	_, wrong := h.Join(t.Context(), "a", "guess", key(1), "", h.clock)
	_, unknown := h.Join(t.Context(), "b", "secret of a", key(1), "", h.clock)
	require.ErrorIs(t, wrong, fault.ErrUnauthenticated)
	require.Equal(t, wrong, unknown)
	require.NoError(t, h.RevokeInvite(t.Context(), "a"))
	_, revoked := h.join("a", 1)
	require.Equal(t, wrong, revoked)
	require.ErrorIs(t, h.RevokeInvite(t.Context(), "a"), fault.ErrNotFound)
}

// Guesses of secrets must not delay writes to the database.
func TestAGuessDoesNotWaitForTheWriterOfTheDatabase(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.invite(admission.Invite{ID: "a", Role: access.Worker})
	err := h.file.Write(t.Context(), "hold the turn", func(*sqldb.Conn) error {
		for n := range byte(100) {
			_, err := h.Join(t.Context(), "a", "guess", key(n), "", h.clock)
			require.ErrorIs(t, err, fault.ErrUnauthenticated)
		}
		return nil
	})
	require.NoError(t, err)
	_, err = h.join("a", 1)
	require.NoError(t, err)
}

func TestInvitesThatCannotBeMadeAreNamed(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for says, i := range map[string]admission.Invite{
		"an invite is for a worker or a manager": {ID: "a", Role: access.Admin},
		"0 or more uses":                         {ID: "a", Role: access.Worker, Uses: -1},
		"which has passed":                       {ID: "a", Role: access.Worker, Expires: h.clock},
	} {
		_, err := h.CreateInvite(t.Context(), i, "secret")
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, says)
	}
}

func TestACertificateIsRenewedForAMonthAfterItsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after time.Duration
		kind  error
	}{
		"within its time":   {16 * time.Hour, nil},
		"an hour later":     {25 * time.Hour, nil},
		"30 days later":     {24*time.Hour + month, nil},
		"after 31 days":     {24*time.Hour + month + 24*time.Hour, fault.ErrUnauthenticated},
		"after three years": {3 * 365 * 24 * time.Hour, fault.ErrUnauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			h.invite(admission.Invite{ID: "a", Role: access.Manager, Service: true})
			p, err := h.join("a", 1)
			require.NoError(t, err)
			h.clock = h.clock.Add(c.after)
			_, err = h.Renew(t.Context(), p.ID, h.clock.Add(24*time.Hour))
			require.ErrorIs(t, err, c.kind)
			again, err := h.join("a", 1) // its join line is good at any time
			require.NoError(t, err)
			require.Equal(t, p.ID, again.ID)
		})
	}
}

func TestARevokedPeerNeitherRenewsNorJoins(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.invite(admission.Invite{ID: "a", Role: access.Worker, Service: true})
	p, err := h.join("a", 1)
	require.NoError(t, err)
	revoked, err := h.RevokePeer(t.Context(), p.ID, false)
	require.NoError(t, err)
	require.Equal(t, "a", revoked.Invite)
	for range 2 {
		_, err = h.ByPeer(p.ID)
		require.ErrorIs(t, err, fault.ErrForbidden)
		_, err = h.Renew(t.Context(), p.ID, h.clock)
		require.ErrorIs(t, err, fault.ErrForbidden)
		_, err = h.join("a", 1)
		require.ErrorIs(t, err, fault.ErrForbidden)
		h.reopen()
	}
	_, err = h.join("a", 2)
	require.NoError(t, err, "who has the line may join with another key")
	_, err = h.RevokePeer(t.Context(), admission.PeerID(key(2)), true)
	require.NoError(t, err)
	_, err = h.join("a", 3)
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	_, err = h.RevokePeer(t.Context(), "peer-x", false)
	require.ErrorIs(t, err, fault.ErrNotFound)
}

func TestPeersThatWereNotSeenForAnHourAreListedWithAll(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.invite(admission.Invite{ID: "a", Role: access.Worker, Service: true})
	for n := range byte(3) {
		_, err := h.join("a", n)
		require.NoError(t, err)
	}
	h.clock = h.clock.Add(2 * time.Hour)
	require.Empty(t, h.Peers(false))
	require.NoError(t, h.Saw(t.Context(), admission.PeerID(key(1))))
	require.NoError(t, h.Saw(t.Context(), "peer-x"))
	require.Len(t, h.Peers(false), 1)
	require.Len(t, h.Peers(true), 3)
	require.Equal(t, "host-1", h.Peers(true)[0].Name)
	h.clock = h.clock.Add(24*time.Hour + month)
	_, err := h.join("a", 9) // those that can never renew are forgotten, also the one that was revoked
	require.NoError(t, err)
	require.Len(t, h.Peers(true), 1)
	h.reopen()
	require.Len(t, h.Peers(true), 1)
}

func TestABusyProgramDoesNotPushChangesByPeopleOutOfTheAudit(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	require.NoError(t, h.Note(t.Context(), admission.Record{At: h.clock, Action: "deleteSpace"}))
	const bound = 100_000
	all := make([]admission.Record, bound+5)
	for n := range all {
		all[n] = admission.Record{At: h.clock.Add(time.Duration(n) * time.Millisecond), Action: "createTask", Object: fmt.Sprint(n), Routine: true}
	}
	require.NoError(t, h.Note(t.Context(), all...))
	found, err := h.Audit(t.Context(), time.Time{}, 2*bound)
	require.NoError(t, err)
	require.Len(t, found, bound+1)
	require.Equal(t, "deleteSpace", found[0].Action)
	require.Equal(t, "5", found[1].Object)
	require.Equal(t, fmt.Sprint(bound+4), found[bound].Object)
}

func TestTheAuditHasTheLatestRecords(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	who := access.Identity{ID: "token-1", Name: "ann", Roles: access.Admin}
	for n := range 5 {
		require.NoError(t, h.Note(t.Context(), admission.Record{At: h.clock.Add(time.Duration(n) * time.Minute), Identity: who, Address: "10.0.0.1", Action: "POST", Object: strings.Repeat("é", 300), Outcome: fmt.Sprint(n)}))
	}
	all, err := h.Audit(t.Context(), h.clock.Add(2*time.Minute), 2)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "3", all[0].Outcome)
	require.Equal(t, "4", all[1].Outcome)
	require.Equal(t, who, all[0].Identity)
	require.Equal(t, h.clock.Add(3*time.Minute), all[0].At)
	require.Equal(t, strings.Repeat("é", 250), all[0].Object)
	h.clock = h.clock.Add(366 * 24 * time.Hour)
	require.NoError(t, h.Note(t.Context(), admission.Record{At: h.clock, Identity: who}))
	all, err = h.Audit(t.Context(), time.Time{}, 100)
	require.NoError(t, err)
	require.Len(t, all, 1, "records of more than a year ago are dropped")
}
