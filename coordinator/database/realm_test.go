package database

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/space/journal/pairing"
	"leasehold/shared/space/journal/postgres"
)

// claimed opens the tables of a realm as its next owner.
func claimed(t *testing.T, address, realm string) *Database {
	t.Helper()
	j, err := postgres.Open(t.Context(), postgres.Config{URL: address, Realm: realm, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	epoch, err := j.Claim(t.Context())
	require.NoError(t, err)
	d, err := OpenRealm(t.Context(), address, realm, uint64(epoch), defaultPlan(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func TestTheNextOwnerOfARealmFindsAllOfTheLastOne(t *testing.T) {
	t.Parallel()
	address, now := pgserver.Database(t), time.Now()
	first := claimed(t, address, "test")
	fill(t, first)
	visits, err := first.Visits.Claim(t.Context(), now, 1)
	require.NoError(t, err)
	require.Len(t, visits, 1)

	second := claimed(t, address, "test")
	found, err := second.Catalog.Findings(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	under, err := second.Visits.Claimed(t.Context())
	require.NoError(t, err)
	require.Len(t, under, 1)
	require.Equal(t, visits[0].ID, under[0].ID)
	rest, err := second.Visits.Claim(t.Context(), now, 10)
	require.NoError(t, err)
	require.Len(t, rest, 2, "no origin is visited twice at a time")
	text, err := second.Describe(t.Context())
	require.NoError(t, err)
	require.Equal(t, "origins: 3, episodes: 2", text)
	require.NoError(t, second.Health())

	_, err = first.Visits.Record(t.Context(), now, []models.Outcome{{Visit: visits[0].ID, Origin: visits[0].Origin.ID, Status: models.Eventful, At: now, Digest: "d"}})
	require.ErrorIs(t, err, fault.ErrUnavailable, "it was deposed")
	require.ErrorIs(t, first.Catalog.RemoveOrigin(t.Context(), "private"), fault.ErrUnavailable)
	require.ErrorIs(t, first.Health(), fault.ErrUnavailable)
	_, err = second.Visits.Record(t.Context(), now, []models.Outcome{{Visit: visits[0].ID, Origin: visits[0].Origin.ID, Status: models.Eventful, At: now, Digest: "d"}})
	require.NoError(t, err)
}

func TestARealmHasNoPairAndNoCopy(t *testing.T) {
	t.Parallel()
	d := claimed(t, pgserver.Database(t), "test")
	mark, err := d.Mark(t.Context())
	require.NoError(t, err)
	require.Equal(t, pairing.Mark{}, mark)
	require.ErrorIs(t, d.SetMark(t.Context(), pairing.Mark{Instance: "i"}), fault.ErrInvalid)
	_, err = d.Changes(t.Context())
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorIs(t, d.Copy(t.Context(), t.TempDir()+"/copy.db"), fault.ErrInvalid)
}

func TestDamageThatPostgreSQLAcceptsIsNamed(t *testing.T) {
	t.Parallel()
	address := pgserver.Database(t)
	for i, c := range []struct{ name, change, want string }{
		{"nothing", "", ""},
		{"a URI of an origin", "UPDATE origin SET uri = 'https://example.orG/f.xml' WHERE kind = 'feed'", "schedule: origin "},
		{"an origin that the catalog lacks", "DELETE FROM origin WHERE kind = 'clips'", "schedule: origin "},
		{"a name of a clip", "UPDATE clip SET name = 'jinglf'", "clips: the id of "},
		{"a title of an episode to research", "UPDATE episode SET title = 'Thd two' WHERE number = (SELECT max(episode) FROM candidate)", "candidates: "},
		{"a hash", "UPDATE clip SET hash = 'rha256:00'", "recordings: clip "},
		{"an exponent of a score", "UPDATE finding SET score = 1.5e300", "findings: clip "},
		{"a set of clips", `UPDATE researched SET clips = '\x3a30000001000000'`, "researched clips: the set of episode number "},
		{"a number in a set of clips", `UPDATE researched SET clips = '\x3a30000001000000000000001000000007a1'`, "researched clips: the set of episode number "},
		{"a scope", "INSERT INTO problem (scope, reason, at) VALUES ('pajr', 'r', 1)", "problems: problem "},
		{"a state", "UPDATE schedule SET disabled = 'gonf'", "schedule: origin "},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := claimed(t, address, fmt.Sprintf("r%d", i))
			fill(t, d)
			require.NoError(t, d.db.Write(t.Context(), "damage", func(w *sqldb.Conn) error { return w.Script(c.change) }))
			e := d.examine(t.Context())
			require.NoError(t, e.Err)
			if c.want == "" {
				require.Empty(t, e.Damage)
			} else {
				require.NotEmpty(t, e.Damage)
				require.Contains(t, e.Damage[0], c.want)
			}
		})
	}
}

func TestARealmWithoutAnOwnerOrForAnotherEpochIsNotOpened(t *testing.T) {
	t.Parallel()
	address := pgserver.Database(t)
	_, err := OpenRealm(t.Context(), address, "test", 1, defaultPlan(t))
	require.Error(t, err, "the journal is opened first")
	claimed(t, address, "test")
	_, err = OpenRealm(context.Background(), address, "test", 7, defaultPlan(t))
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.NotContains(t, err.Error(), pgserver.Password)
}
