package auth

import (
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"leasehold/coordinator/peer"
	"leasehold/shared/access"
	"leasehold/shared/fault"
)

const (
	maxGuesses   = 60          // wrong tokens and join lines of an address at once
	guessEvery   = time.Second // and one more each
	maxGuessers  = 10_000      // addresses that are counted
	guessesNoted = time.Minute // between two lines of the log
)

// TooManyGuesses is the error of a wrong token or join line of an address that has sent too many of them. Its kind is
// fault.ErrUnauthenticated too.
type TooManyGuesses struct {
	After time.Duration // in which the address may send another one
	wrong error
}

func (e *TooManyGuesses) Error() string { return e.wrong.Error() + " (too many from this address)" }

// Unwrap returns the error of the wrong token.
func (e *TooManyGuesses) Unwrap() error { return e.wrong }

// guesses counts wrong tokens and join lines by address (by network of 64 bits for IPv6). Correct ones are always
// accepted, because many clients may share an address: tokens and secrets are too long to be guessed.
type guesses struct {
	now func() time.Time
	log *slog.Logger

	mu    sync.Mutex               // guards the fields below
	of    map[netip.Prefix]guesser // at most maxGuessers; for a further one any of them is forgotten
	noted time.Time                // the latest line of the log
	since int                      // refused since then
}

// guesser is an address that was wrong lately.
type guesser struct {
	left float64 // of maxGuesses
	at   time.Time
}

// check counts an error about a token or a join line from an address, and returns it, or a *TooManyGuesses. Other errors
// and nil count for nothing.
func (g *guesses) check(remote string, err error) error {
	if !errors.Is(err, fault.ErrUnauthenticated) {
		return err
	}
	address, now := peer.Network(remote), g.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	x, known := g.of[address]
	if !known {
		x.left = maxGuesses
		for other := range g.of {
			if len(g.of) < maxGuessers {
				break
			}
			delete(g.of, other)
		}
	}
	x.left = min(maxGuesses, x.left+max(0, now.Sub(x.at).Seconds()/guessEvery.Seconds()))
	x.at = now
	isAllowed := x.left >= 1
	if isAllowed {
		x.left--
	}
	g.of[address] = x
	if isAllowed {
		return err
	}
	g.since++
	if now.Sub(g.noted) >= guessesNoted {
		g.log.Warn("auth: many wrong tokens or join lines", "latest from", address, "refused since the last line", g.since)
		g.noted, g.since = now, 0
	}
	return &TooManyGuesses{time.Duration((1 - x.left) * float64(guessEvery)), err}
}

// ByToken returns the identity that a token from an address proves.
func (a *Auth) ByToken(remote, token string) (access.Identity, error) {
	i, err := a.Store.ByToken(token)
	return i, a.guesses.check(remote, err)
}
