package task

import (
	"fmt"
	"slices"
	"strings"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// ParentResult is how a parent of a task ended. A claim carries the results of the parents up to maxCarried bytes;
// Client.Parents reads all.
type ParentResult struct {
	ID      string
	State   State
	Result  string // JSON; empty: none, or LeftOut
	LeftOut bool   // it has a result that is not here, because the results are too large together
}

func (r ParentResult) encode() tuple.Tuple {
	t := tuple.New("parent", r.ID, string(r.State), r.Result)
	if r.LeftOut {
		t = append(t, true)
	}
	return t
}

func matchParent(id any) tuple.Template {
	return tuple.Match("parent", id, tuple.AnyString, tuple.AnyString)
}

// hasChildren reports whether tasks or dead letters name a task as their parent.
func hasChildren(tx space.Tx, id string) bool {
	return tx.CountLabelled(Space, childLabel(id)) > 0 || tx.CountLabelled(Dead, childLabel(id)) > 0
}

// retainEnd keeps how a task ended for its children. It replaces an earlier end of the task, which may have been
// requeued since.
func retainEnd(tx space.Tx, r ParentResult) error {
	if e, ok := tx.Find(Data, matchParent(r.ID), nil); ok {
		return tx.Replace(e.Ref, r.encode())
	}
	_, err := tx.Put(Data, r.encode(), space.PutOptions{})
	return err
}

// forgetParents removes what retainEnd kept of each parent of i, if no other task or dead letter names that parent. i
// has left the spaces already.
func forgetParents(tx space.Tx, i Item) error {
	for _, parent := range i.After {
		if hasChildren(tx, parent) {
			continue
		}
		if e, ok := tx.Find(Data, matchParent(parent), nil); ok {
			if err := tx.Take(e.Ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// endedParent is a parent that has ended, and how.
type endedParent struct {
	id  string
	end ending
}

// releaseChildren is called when a task has ended or become a dead letter. It keeps the end for the children, and
// removes the task from the parents that each child waits for (parentEnded). The end of a child has it called again:
// then it only adds the child to p.ended, and the first call goes on with that, because a recursion over a long chain
// would overflow the stack.
func (p Policy) releaseChildren(tx space.Tx, parent string, end ending) error {
	if !hasChildren(tx, parent) {
		return nil
	}
	if err := retainEnd(tx, ParentResult{ID: parent, State: end.state, Result: end.result}); err != nil {
		return err
	}
	if p.ended != nil {
		*p.ended = append(*p.ended, endedParent{parent, end})
		return nil
	}
	ended := []endedParent{{parent, end}}
	p.ended = &ended
	for n := 0; n < len(ended); n++ {
		if err := p.releaseChildrenOf(tx, ended[n]); err != nil {
			return err
		}
	}
	return nil
}

// releaseChildrenOf is releaseChildren for one parent. A child may end meanwhile, because the end of another child
// reaches it too, so each is read again.
func (p Policy) releaseChildrenOf(tx space.Tx, parent endedParent) error {
	for _, child := range withLabel(tx, Space, childLabel(parent.id), maxChildren) {
		e, alive := tx.Entry(child.Ref)
		if !alive {
			continue
		}
		i, err := DecodeEntry(e)
		if err != nil {
			return err
		}
		if !slices.Contains(i.Pending, parent.id) {
			continue
		}
		if err := p.parentEnded(tx, e, i, parent.id, parent.end); err != nil {
			return err
		}
	}
	return nil
}

// maxChildren bounds the children of one task: tasks that are alive, and dead letters.
const maxChildren = 100_000

// checkParents refuses a new task if a parent has maxChildren children, because the end of the parent would not reach
// another one. A requeued dead letter is one of them already.
func checkParents(tx space.Tx, i Item) error {
	for _, parent := range i.After {
		label := childLabel(parent)
		if tx.CountLabelled(Space, label)+tx.CountLabelled(Dead, label) >= maxChildren {
			return fmt.Errorf("after %.200q: %w: it has %d children, and that is the maximum", parent, fault.ErrInvalid, maxChildren)
		}
	}
	return nil
}

// parentEnded removes a parent from those that a child waits for. If the parent did not resolve, the child becomes a
// dead letter, unless it runs anyway (models.RunAnyway). An unclaimed child is placed, so that it becomes visible if
// it waits for nothing else.
func (p Policy) parentEnded(tx space.Tx, e space.Entry, i Item, parent string, end ending) error {
	i.Pending = slices.DeleteFunc(slices.Clone(i.Pending), func(id string) bool { return id == parent })
	switch {
	case end.state != Resolved && i.OnFailure != models.RunAnyway:
		reason := childReason(parent, end)
		return p.dieOf(tx, e, i, reason, reason)
	case i.CurrentClaimant == "":
		return p.place(tx, e, i, space.NewPlace)
	}
	return rewrite(tx, e, i, e.Turn)
}

// failedParent begins the reason of a task that died because of its parent.
const failedParent = "its parent "

// parentFailed begins the reason of a task that died because of its parent. reviveChildren looks for it.
func parentFailed(parent string, state State) string {
	return fmt.Sprintf("%s%s is %s", failedParent, parent, state)
}

// childReason returns the reason of a task that died because its parent ended so. It has the reason of the parent; in
// a chain of parents, only how the first one ended, so that each dead letter of a long chain tells where it broke.
func childReason(parent string, end ending) string {
	reason := parentFailed(parent, end.state)
	if cause, inherited := strings.CutPrefix(end.note, failedParent); inherited { // "B is dead: …", or "B is dead, because A is dead: …"
		link, root, found := strings.Cut(cause, ", because ")
		if isChain := found && !strings.Contains(link, ": "); isChain { // otherwise the reason of B has these words
			cause = root
		}
		return truncate(reason + ", because " + cause)
	}
	if rest, repeated := strings.CutPrefix(end.note, string(end.state)); repeated { // "cancelled: by hand"
		return truncate(reason + rest)
	}
	return truncate(reason + ": " + end.note)
}

// pendingParents returns the parents of a new task that have not ended. failed is the reason why the task cannot run,
// because a parent ended without resolving; empty if it can. The end of a dead parent is kept (retainEnd), unless it
// is already. An unknown parent is fault.ErrNotFound.
func pendingParents(tx space.Tx, i Item) (pending []string, failed string, err error) {
	for _, parent := range i.After {
		if _, _, err := find(tx, parent); err == nil {
			pending = append(pending, parent)
			continue
		}
		e, known := tx.Find(Data, matchParent(parent), nil)
		state := decodeParent(e.Tuple).State
		if !known {
			if !isDead(tx, parent) {
				return nil, "", fmt.Errorf("after %.200q: %w: there is no such task, or it is no longer kept", parent, fault.ErrNotFound)
			}
			state = StateDead
			if err := retainEnd(tx, ParentResult{ID: parent, State: state}); err != nil {
				return nil, "", err
			}
		}
		if state != Resolved && i.OnFailure != models.RunAnyway {
			failed = parentFailed(parent, state)
		}
	}
	return pending, failed, nil
}

// isDead reports whether there is the dead letter of a task, which can be requeued.
func isDead(tx space.Tx, id string) bool {
	_, dead := tx.Find(Dead, MatchDead(tuple.AnyString, id), nil)
	return dead
}

// parentEnds returns how the parents of a task ended, in the order of After. A parent whose end is not kept is left
// out.
func parentEnds(tx space.Tx, i Item) (all []ParentResult) {
	for _, parent := range i.After {
		if e, ok := tx.Find(Data, matchParent(parent), nil); ok {
			all = append(all, decodeParent(e.Tuple))
		}
	}
	return all
}
