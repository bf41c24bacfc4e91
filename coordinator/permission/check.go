package permission

import (
	"fmt"

	"leasehold/shared/access"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/idempotency"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
)

// maxNested is how deeply a request may name other procedures. A call of a call has no use.
const maxNested = 2

// Check refuses a request of a session that an identity may not make, and returns nil otherwise. session is the
// caller's. Errors: fault.ErrUnauthenticated and fault.ErrForbidden, as access.Identity.Check returns them, and
// fault.ErrNotFound for a procedure that is unknown.
func Check(i access.Identity, session string, r space.Request) error {
	switch r.Verb {
	case space.VerbCall:
		return checkCall(i, session, r.Procedure, r.Args, maxNested)
	case space.VerbCreate:
		return Put(i, r.Space)
	case space.VerbPut, space.VerbPutP:
		return Put(i, r.Space)
	case space.VerbGet, space.VerbGetP, space.VerbGetAll, space.VerbGetUpTo:
		return Take(i, r.Space)
	case space.VerbQuery, space.VerbQueryP, space.VerbQueryAll, space.VerbQueryUpTo, space.VerbCount, space.VerbNotify:
		return Read(i, r.Space)
	}
	return i.Check(r.Verb.String(), access.Any) // of the caller's own session, or a list
}

// Read refuses to read a space that the identity may not read.
func Read(i access.Identity, name string) error {
	return checkSpace(i, "read", name, func(n needs) access.Roles { return n.read })
}

// Put refuses to put into a space, or to create one, if the identity may not.
func Put(i access.Identity, name string) error {
	return checkSpace(i, "put into", name, func(n needs) access.Roles { return n.put })
}

// Take refuses to take from a space from which the identity may not take.
func Take(i access.Identity, name string) error {
	return checkSpace(i, "take from", name, func(n needs) access.Roles { return n.take })
}

func checkSpace(i access.Identity, what, name string, need func(needs) access.Roles) error {
	n, isProtocol := protocols[name]
	if !isProtocol {
		n = application
		if err := i.CheckSpace(name); err != nil {
			return err
		}
	}
	if i.Roles.Meet(need(n)) { // without the text of a refusal, which takes longer than the decision
		return nil
	}
	return i.Check(fmt.Sprintf("%s space %.100q", what, name), need(n))
}

// checkCall checks a call of a procedure, which may name depth others.
func checkCall(i access.Identity, session, procedure string, args tuple.Tuple, depth int) error {
	need, known := Procedures[procedure]
	if !known || depth == 0 {
		return fmt.Errorf("procedure %.100q: %w", procedure, fault.ErrNotFound)
	}
	if procedure == "status.drain" && space.FirstName(args) == session {
		need = access.Any
	}
	if err := i.Check(procedure, need); err != nil {
		return err
	}
	switch procedure {
	case "idempotency.call":
		if called, of := idempotency.Called(args); called != "" {
			return checkCall(i, session, called, of, depth-1)
		}
	case browse.Procedure:
		return Read(i, space.FirstName(args))
	case "interop.find", "interop.findall":
		in, takes := interop.Searches(args)
		if takes {
			return Take(i, in)
		}
		return Read(i, in)
	case "hold.take", "hold.ack", "hold.back":
		return Take(i, space.FirstName(args))
	case "transaction.run", "transaction.apply":
		return checkTransaction(i, args)
	}
	return nil // arguments that no caller sends are refused by the procedure
}

// checkTransaction checks each operation of a transaction.
func checkTransaction(i access.Identity, args tuple.Tuple) error {
	ops, err := transaction.Operations(args)
	if err != nil {
		return err
	}
	for _, op := range ops {
		if err := Operation(i, op); err != nil {
			return err
		}
	}
	return nil
}

// Operation refuses an operation of a transaction that the identity may not carry out.
func Operation(i access.Identity, op transaction.Op) error {
	switch op.Kind {
	case transaction.KindPut:
		return Put(i, op.Space)
	case transaction.KindQuery, transaction.KindAbsent:
		return Read(i, op.Space)
	}
	return Take(i, op.Space)
}
