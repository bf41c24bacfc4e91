package admission

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

// Bounds of tokens.
const (
	maxTokens   = 10_000
	maxPrefixes = 20
	maxPrefix   = 100 // bytes

	tokenBytes  = 32
	tokenPrefix = "lht-" // of every token, so that a search for secrets finds one
)

// Token is what a program or a person shows to be admitted.
type Token struct {
	ID      string
	Name    string // unique
	Roles   access.Roles
	Spaces  []string // prefixes of the application spaces that it may use; none: all
	Created time.Time
	Expires time.Time // zero: never
}

// identity returns the identity that the token proves.
func (t Token) identity() access.Identity {
	return access.Identity{ID: t.ID, Name: t.Name, Roles: t.Roles, Spaces: t.Spaces}
}

// check refuses a token that cannot be made, with fault.ErrInvalid.
func (t Token) check(now time.Time) error {
	switch {
	case !models.ValidID(t.Name):
		return fmt.Errorf("name %.64q: %w: %s", t.Name, fault.ErrInvalid, models.IDRule)
	case t.Roles == access.None:
		return fmt.Errorf("token %s: %w: want a role", t.Name, fault.ErrInvalid)
	case !t.Expires.IsZero() && !t.Expires.After(now):
		return fmt.Errorf("token %s: %w: it would end at %s, which has passed", t.Name, fault.ErrInvalid, t.Expires.Format(time.RFC3339))
	case len(t.Spaces) > maxPrefixes:
		return fmt.Errorf("token %s: %w: %d prefixes of spaces, at most %d", t.Name, fault.ErrInvalid, len(t.Spaces), maxPrefixes)
	}
	for _, prefix := range t.Spaces {
		if prefix == "" || len(prefix) > maxPrefix || strings.Contains(prefix, ",") || !wording.IsStorable(prefix) {
			return fmt.Errorf("prefix %.100q of spaces: %w: want 1 to %d bytes without a comma and NUL", prefix, fault.ErrInvalid, maxPrefix)
		}
	}
	return nil
}

// CreateToken makes a token with a name, roles, spaces and an end, and returns it with its secret, which is not kept. It
// fails with fault.ErrConflict if the name is taken, and with fault.ErrInvalid and fault.ErrOverloaded as they state.
func (s *Store) CreateToken(ctx context.Context, t Token) (_ Token, secret string, err error) {
	if err := t.check(s.now()); err != nil {
		return Token{}, "", err
	}
	t.ID, t.Created = "token-"+random(5), s.now().UTC().Truncate(time.Second)
	secret = tokenPrefix + random(tokenBytes)
	hash := hashOf(secret)
	err = s.file.Write(ctx, "create a token", func(c *sqldb.Conn) error {
		var taken, number int
		if _, err := c.One("SELECT count(*), coalesce(sum(CASE WHEN name = ? THEN 1 ELSE 0 END), 0) FROM token", []any{t.Name}, sqldb.Into(&number, &taken)); err != nil {
			return err
		}
		if taken > 0 {
			return fmt.Errorf("token %s: %w: there is one of that name; revoke it, or use another name", t.Name, fault.ErrConflict)
		}
		if number >= maxTokens {
			return fmt.Errorf("%w: there are already %d tokens, the maximum", fault.ErrOverloaded, number)
		}
		c.OnEnd(func(committed bool) {
			if committed {
				s.setToken(hash, t)
			}
		})
		return c.Exec("INSERT INTO token (id, name, roles, spaces, secret, created, expires) VALUES (?, ?, ?, ?, ?, ?, ?)", t.ID, t.Name, t.Roles.String(), strings.Join(t.Spaces, ","), hash[:], seconds(t.Created), seconds(t.Expires))
	})
	return t, secret, err
}

func (s *Store) setToken(hash [sha256.Size]byte, t Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[hash] = t
}

// loadTokens reads the tokens. One with a role that this version does not have stays, and proves nothing.
func (s *Store) loadTokens(c *sqldb.Conn) error {
	return c.All("SELECT id, name, roles, spaces, secret, created, expires FROM token", nil, func(row sqldb.Row) error {
		var t Token
		var roles, spaces string
		var hash []byte
		var created, expires int64
		if err := row.Scan(&t.ID, &t.Name, &roles, &spaces, &hash, &created, &expires); err != nil {
			return err
		}
		t.Roles, _ = access.ParseRoles(roles) // none for a role that is gone
		t.Spaces, t.Created, t.Expires = list(spaces), timeOf(created), timeOf(expires)
		s.tokens[[sha256.Size]byte(hash)] = t
		return nil
	})
}

// Tokens returns the tokens by name.
func (s *Store) Tokens() []Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.tokens), func(a, b Token) int { return cmp.Compare(a.Name, b.Name) })
}

// EndedTokens returns the ids of the tokens whose time has ended since a time.
func (s *Store) EndedTokens(since time.Time) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for _, t := range s.tokens {
		if t.Expires.After(since) && !t.Expires.After(now) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// RevokeToken removes the token with a name or an id, and returns it. It fails with fault.ErrNotFound if there is none.
func (s *Store) RevokeToken(ctx context.Context, name string) (Token, error) {
	hash, t, known := s.findToken(name)
	if !known {
		return Token{}, fmt.Errorf("token %.64q: %w", name, fault.ErrNotFound)
	}
	return t, s.file.Write(ctx, "revoke a token", func(c *sqldb.Conn) error {
		c.OnEnd(func(committed bool) {
			if committed {
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(s.tokens, hash)
			}
		})
		return c.Exec("DELETE FROM token WHERE id = ?", t.ID)
	})
}

// findToken returns the token with a name or an id, and reports whether there is one.
func (s *Store) findToken(name string) (hash [sha256.Size]byte, t Token, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for hash, t := range s.tokens {
		if t.Name == name || t.ID == name {
			return hash, t, true
		}
	}
	return hash, t, false
}

// NewAdminSecret returns the secret of a token for SetAdmin.
func NewAdminSecret() string { return tokenPrefix + random(tokenBytes) }

// SetAdmin admits an admin with this secret, which a file of the coordinator's user has. It is in no table.
func (s *Store) SetAdmin(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admin = hashOf(secret)
}

// Admin is the identity of the coordinator's own user.
var Admin = access.Identity{ID: "token-admin", Name: "admin", Roles: access.Admin}

// ByToken returns the identity that a token proves. Its error is fault.ErrUnauthenticated, without the token in its text.
// The token is looked up by its hash, so that the time that this takes does not depend on other tokens.
func (s *Store) ByToken(secret string) (access.Identity, error) {
	hash := hashOf(secret)
	s.mu.Lock()
	t, known := s.tokens[hash]
	isAdmin := s.admin != [sha256.Size]byte{} && hash == s.admin
	s.mu.Unlock()
	switch {
	case isAdmin:
		return Admin, nil
	case !known:
		return access.Identity{}, fmt.Errorf("%w: this token is not known, or was revoked", fault.ErrUnauthenticated)
	case !t.Expires.IsZero() && !s.now().Before(t.Expires):
		return access.Identity{}, fmt.Errorf("%w: token %s has ended at %s", fault.ErrUnauthenticated, t.Name, t.Expires.Format(time.RFC3339))
	case t.Roles == access.None:
		return access.Identity{}, fmt.Errorf("%w: token %s has a role that this version does not have; create another one", fault.ErrUnauthenticated, t.Name)
	}
	return t.identity(), nil
}
