package visits

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
	"leasehold/shared/protocol/visit/policy"
)

// Named is an origin as it was named.
type Named struct {
	models.Origin
	Created, Updated time.Time // zero: not given
	Fork             bool
	ForkOf           string // URI of the origin that it is a fork of, if it is known
	Metadata         map[string]string
}

// putNamedAll adds origins, or notes that they were named again, and adds their ids to named. All are added in
// one transaction, which writes the pages of the indexes of hosts and times only once. An id that named has
// already is skipped. The error names the origin.
func (s *Store) putNamedAll(lister int32, all []Named, named map[string]bool, now int64) (err error) {
	for _, o := range all {
		if named[o.ID] {
			continue
		}
		named[o.ID] = true
		refs := o.Origin // with those of this lister; AddListed returns those that the catalog has
		if lister != 0 && s.catalog != nil {
			if o.Origin, err = s.catalog.AddListed(s.db, o.Origin); err != nil {
				return fmt.Errorf("%s: %w", o.URI, err)
			}
		}
		if err := s.putNamed(lister, o, now); err != nil {
			return fmt.Errorf("%s: %w", o.URI, err)
		}
		if err := s.followRefs(lister, o.Origin, refs); err != nil {
			return err
		}
	}
	return nil
}

// putNamed adds an origin, or notes that it was named again, in the transaction under way. lister 0 is the user,
// whose naming also enables an origin that its server called gone. Dates count only from the first lister, or if
// there are none yet. fault.ErrInvalid: the id or the URI is not valid.
func (s *Store) putNamed(lister int32, o Named, now int64) error {
	if !models.ValidID(o.ID) {
		return fmt.Errorf("id %.64q: %w", o.ID, fault.ErrInvalid)
	}
	if !wording.IsStorable(o.URI) {
		return fmt.Errorf("URI %.64q: %w: want UTF-8 without NUL", o.URI, fault.ErrInvalid)
	}
	was, err := read(s.db, o.ID)
	r := was
	if errors.Is(err, fault.ErrNotFound) {
		r = row{State: policy.NewState(0, now, s.rulesOf(o.Kind)), id: o.ID, kind: o.Kind, uri: o.URI, host: s.policy.Hosts.Of(hostOf(o.URI))}
	} else if err != nil {
		return err
	}
	r.Type = string(r.kind)
	if lister == 0 && r.Disabled == policy.ByGone {
		r.Disabled = ""
	}
	if was.Key == 0 && o.Kind.Info().Lister {
		r.Every = listerEvery
		if !o.Kind.Visited() {
			r.Every, r.Disabled = 0, policy.ByOperator // it only names others
		}
	}
	if err := s.addNaming(&r, lister, o.Listed, now); err != nil {
		return err
	}
	updated := policy.Never
	if lister == r.Lister || r.LastUpdate == policy.Never { // the dates of one lister count
		updated = second(o.Updated, now)
	}
	r.State = policy.Listed(r.State, now, updated)
	r.priority, r.Fork = o.Priority, r.Fork || o.Fork
	if fixed := r; lister == 0 && fixed.set(models.Visiting{Every: o.Every, Hours: o.Hours}) == nil { // the API refuses other values
		r = fixed
	}
	if created := second(o.Created, now); r.Created == policy.Never {
		r.Created = created
	}
	if err := s.save(was, r, now); err != nil {
		return err
	}
	if r.Key == 0 && (o.ForkOf != "" || len(o.Metadata) > 0) { // save gave it a key, which saveDescription needs
		if r, err = read(s.db, o.ID); err != nil {
			return err
		}
	}
	return s.saveDescription(r.Key, o)
}

// listerEvery is the seconds between two visits of a lister, unless a user fixes another
// interval.
const listerEvery = 24 * 3600

// second returns a date of a lister in seconds; visit.Never if it is missing or in the future, which cannot be
// true.
func second(t time.Time, now int64) int64 {
	if t.IsZero() || t.Unix() > now {
		return policy.Never
	}
	return t.Unix()
}

// followRefs gives an origin that only listers name the branches and tags of refs, which its first lister has by
// now. An origin that the user added keeps those of the user.
func (s *Store) followRefs(lister int32, o, refs models.Origin) error {
	if lister == 0 || s.catalog == nil || !o.Listed || slices.Equal(o.Branches, refs.Branches) && slices.Equal(o.Tags, refs.Tags) {
		return nil
	}
	r, err := read(s.db, o.ID)
	if err != nil || r.Lister != lister {
		return err
	}
	return s.catalog.SetRefs(s.db, refs)
}

// maxDescription limits the bytes of the description of one origin; a longer one is not
// kept.
const maxDescription = 4 << 10

// saveDescription replaces what a lister tells of an origin. An empty description, or one longer than
// maxDescription, leaves the earlier one, without an error.
func (s *Store) saveDescription(key int64, o Named) error {
	if o.ForkOf == "" && len(o.Metadata) == 0 {
		return nil
	}
	text, err := json.Marshal(o.Metadata)
	if err != nil || len(text)+len(o.ForkOf) > maxDescription {
		return err
	}
	return s.db.Exec(`INSERT INTO description (origin, fork_of, metadata) VALUES (?, ?, ?) ON CONFLICT (origin)
		DO UPDATE SET fork_of = excluded.fork_of, metadata = excluded.metadata`, key, wording.Storable(o.ForkOf), string(text))
}

// described returns the description of an origin; both are empty if there is none.
func (s *Store) described(key int64) (forkOf string, metadata map[string]string, err error) {
	var text string
	found, err := s.db.One("SELECT fork_of, metadata FROM description WHERE origin = ?", []any{key}, sqldb.Into(&forkOf, &text))
	if err != nil || !found {
		return "", nil, err
	}
	return forkOf, metadata, json.Unmarshal([]byte(text), &metadata)
}
