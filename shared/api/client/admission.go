package client

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
)

// Join has a process join by its invite. It is not repeated, because a wrong invite stays wrong; a process that joins
// again with the same key counts once.
func (c *Client) Join(ctx context.Context, n types.NewJoin) (j types.Joined, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "join", Body: n, Answer: &j})
	return j, err
}

// Renew renews the certificate that the connection presents.
func (c *Client) Renew(ctx context.Context, n types.NewRenewal) (j types.Joined, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "renew", Body: n, Answer: &j})
	return j, err
}

// CreateInvite makes an invite. Only the answer has its join line.
func (c *Client) CreateInvite(ctx context.Context, n types.NewInvite) (i types.Invite, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "invites", Body: n, Answer: &i})
	return i, err
}

// Invites lists the invites, the oldest first.
func (c *Client) Invites(ctx context.Context) ([]types.Invite, error) {
	page, err := List[types.Invite](ctx, c, "invites", nil, PageSize, All)
	return page.Items, err
}

// RevokeInvite revokes an invite.
func (c *Client) RevokeInvite(ctx context.Context, id string) error {
	_, err := c.Do(ctx, Call{Method: "DELETE", Path: "invites/" + url.PathEscape(id)})
	return err
}

// Members lists the coordinators that serve the realm in turn, by name.
func (c *Client) Members(ctx context.Context) ([]types.Member, error) {
	page, err := List[types.Member](ctx, c, "members", nil, PageSize, All)
	return page.Items, err
}

// FinishUpgrade has the members of the realm write the newest format that all of them read, and returns it.
func (c *Client) FinishUpgrade(ctx context.Context) (u types.Upgrade, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "upgrade/finish", Answer: &u})
	return u, err
}

// Peers lists the processes that are connected or were in the last hour, or all.
func (c *Client) Peers(ctx context.Context, all bool) ([]types.Peer, error) {
	page, err := List[types.Peer](ctx, c, "peers", url.Values{"all": {strconv.FormatBool(all)}}, PageSize, All)
	return page.Items, err
}

// RevokePeer revokes a process, and with withInvite also the invite by which it joined.
func (c *Client) RevokePeer(ctx context.Context, id string, withInvite bool) (p types.Peer, err error) {
	q := url.Values{"with_invite": {strconv.FormatBool(withInvite)}}
	_, err = c.Do(ctx, Call{Method: "DELETE", Path: "peers/" + url.PathEscape(id), Query: q, Answer: &p})
	return p, err
}

// CreateToken makes a token. Only the answer has its secret.
func (c *Client) CreateToken(ctx context.Context, n types.NewToken) (t types.Token, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "tokens", Body: n, Answer: &t})
	return t, err
}

// Tokens lists the tokens by name.
func (c *Client) Tokens(ctx context.Context) ([]types.Token, error) {
	page, err := List[types.Token](ctx, c, "tokens", nil, PageSize, All)
	return page.Items, err
}

// RevokeToken revokes a token, by its name or its id.
func (c *Client) RevokeToken(ctx context.Context, name string) (t types.Token, err error) {
	_, err = c.Do(ctx, Call{Method: "DELETE", Path: "tokens/" + url.PathEscape(name), Answer: &t})
	return t, err
}

// Audit lists the latest changes that people and programs made since so long ago, the oldest first, at most so many.
func (c *Client) Audit(ctx context.Context, since time.Duration, most int) ([]types.AuditRecord, error) {
	var page types.Page[types.AuditRecord]
	q := url.Values{"since": {strconv.Itoa(int(models.SecondsOf(since)))}, "limit": {strconv.Itoa(most)}}
	_, err := c.Do(ctx, Call{Method: "GET", Path: "audit", Query: q, Answer: &page})
	return page.Items, err
}

// Identity returns the identity of the coordinator.
func (c *Client) Identity(ctx context.Context) (i types.Identity, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: "identity", Answer: &i})
	return i, err
}

// Caller returns who makes the requests of this client, and which operations the coordinator allows it.
func (c *Client) Caller(ctx context.Context) (who types.Caller, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: "caller", Answer: &who, Repeat: true})
	return who, err
}

// RotateIdentity makes a new CA, and has the coordinator accept that of today until a time.
func (c *Client) RotateIdentity(ctx context.Context, n types.NewIdentity) (i types.Identity, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "identity", Body: n, Answer: &i})
	return i, err
}
