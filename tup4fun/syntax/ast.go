package syntax

// Program is one parsed model.
type Program struct {
	File     string
	InitFile string // the file of positions with Pos.Init
	Decls    []*Decl
	Procs    []*Process
	Props    []*Property
	Comments []Comment
	Symbols  []string // by value, from SymbolBase on

	procsAt, propsAt Pos  // positions where these parts begin
	end              Pos  // of the file
	par              bool // the processes are between par and rap
}

// DeclKind is the kind of a Decl.
type DeclKind uint8

// The kinds of declarations.
const (
	VarDecl    DeclKind = iota // x = 1
	ArrayDecl                  // A = [1, 2]
	SpaceDecl                  // S = (R, INF, {(1, 2)})
	ConstDecl                  // const N = 1
	SetDecl                    // const Items = {1, 2}, or 1..N
	SymbolDecl                 // symbol active
)

// Decl is one declaration in the first part of a file.
type Decl struct {
	Pos    Pos
	Kind   DeclKind
	Name   *Name
	Value  *Expr     // VarDecl, ConstDecl
	Values []*Expr   // ArrayDecl
	Set    *Set      // SetDecl
	Space  byte      // SpaceDecl: R, Q, S, F or L
	Cap    *Expr     // SpaceDecl: nil is INF
	Tuples [][]*Expr // SpaceDecl
}

// Process is one branch of par.
type Process struct {
	Pos   Pos
	Count *Expr // nil: one copy
	Name  *Name // nil: unnamed
	Param *Name // nil: none; its values in the copies are 1, 2, … Count
	Body  []*Stmt
	Title string // the name, or P1, P2, … by position
}

// StmtKind is the kind of a Stmt.
type StmtKind uint8

// The kinds of statements.
const (
	Skip StmtKind = iota
	Assign
	If
	Do
	Loop
	OpStmt
	Var
	Atomic
)

// Stmt is one statement.
type Stmt struct {
	Pos    Pos
	Kind   StmtKind
	Label  *Name
	Target *Expr    // Assign: a Ref or an Elem
	Value  *Expr    // Assign
	Guards []*Guard // If, Do, Loop
	Op     *Op      // OpStmt
	Names  []*Name  // Var
	Body   []*Stmt  // Atomic
	End    Pos      // position of the last word or brace, if the statement ends with one
}

// GuardKind is the kind of a Guard.
type GuardKind uint8

// The kinds of guards: the condition under which each may be taken.
const (
	When    GuardKind = iota // Cond is true
	OnOp                     // Op can be executed, and is
	Else                     // no other guard of the statement can be taken
	Timeout                  // nothing else in the whole program can be executed
)

// Guard is one branch of if, do or loop.
type Guard struct {
	Pos  Pos
	Kind GuardKind
	Cond *Expr
	Op   *Op
	Body []*Stmt
}

// Op is one operation on a space.
type Op struct {
	Pos    Pos
	Space  *Name
	Verb   Verb
	Fields []*Field
}

// Verb is the name of an operation on a space.
type Verb string

// The operations. GetP and QueryP continue if nothing matches.
const (
	Put    Verb = "put"
	Get    Verb = "get"
	Query  Verb = "query"
	GetP   Verb = "getp"   // Get without blocking
	QueryP Verb = "queryp" // Query without blocking
)

// Takes reports whether v removes the tuple that it finds.
func (v Verb) Takes() bool { return v == Get || v == GetP }

// FieldKind is the kind of a Field.
type FieldKind uint8

// The kinds of fields.
const (
	Actual FieldKind = iota // equals X
	Formal                  // ?x: matches any value and assigns it to x
	Any                     // _: matches any value
)

// Field is one field of a tuple or a template.
type Field struct {
	Pos  Pos
	Kind FieldKind
	X    *Expr // Actual
	Name *Name // Formal
}

// ExprKind is the kind of an Expr.
type ExprKind uint8

// The kinds of expressions: arithmetic, boolean and temporal.
const (
	Num     ExprKind = iota // Value
	Bool                    // Value is 0 or 1
	Sym                     // "Text"
	Ref                     // Name
	Elem                    // Name[X]
	Neg                     // -X
	Not                     // !X
	Binary                  // X Op Y
	Count                   // count(Space, Fields)
	Forall                  // forall Name in Set: X
	Exists                  // exists Name in Set: X
	Always                  // [] X
	Finally                 // <> X
	Event                   // Verb(Space, Fields): true if the last step was this operation
)

// Expr is an expression.
type Expr struct {
	Pos    Pos
	Kind   ExprKind
	Op     string // Binary: + - * / % = != < <= > >= & && | || -> U W
	Value  int64
	Text   string
	Name   *Name
	X, Y   *Expr
	Space  *Name
	Verb   Verb
	Fields []*Field
	Set    *Set
}

// IsTemporal reports whether x has a temporal operator or an event, so that it is about runs and not
// about one state. x may be nil.
func (x *Expr) IsTemporal() bool {
	if x == nil {
		return false
	}
	switch x.Kind {
	case Always, Finally, Event:
		return true
	}
	return x.Op == "U" || x.Op == "W" || x.X.IsTemporal() || x.Y.IsTemporal()
}

// Set is the set of a quantifier: a constant, a range, or a list.
type Set struct {
	Pos       Pos
	Name      *Name
	Low, High *Expr
	Elems     []*Expr
	Values    []int64 // set by resolve
}

// PropKind is the kind of a Property.
type PropKind uint8

// The kinds of properties.
const (
	Bound        PropKind = iota // bound S <= 3;
	Invariant                    // invariant p: b;
	DeadlockFree                 // deadlockfree except Worker, Server.idle;
	Eventually                   // eventually p: b under weakfair;
	LeadsTo                      // leadsto p: b ~> c under weakfair;
	LTL                          // ltl p: f under weakfair;
)

// Property is one property of a program.
type Property struct {
	Pos    Pos
	Kind   PropKind
	Name   string // the given name, or kind and space
	Space  *Name  // Bound
	X, Y   *Expr  // Bound: the limit; LeadsTo: from X to Y
	Fair   bool   // under weakfair
	Except []Place
}

// Place is where processes may wait forever: anywhere, or at a label.
type Place struct {
	Process *Name
	Label   *Name // nil: anywhere
}

// Name is one use of a name.
type Name struct {
	Pos  Pos
	Text string
	Obj  *Object // set by resolve
}

// ObjKind is the kind of an Object.
type ObjKind uint8

// The kinds of objects.
const (
	SharedVar ObjKind = iota
	SharedArray
	LocalVar
	SpaceName
	Constant
	SetName
	Symbol
	Param      // of a process
	Quantified // by forall or exists
	ProcName
)

// Object is a declared variable, space, constant, process or the like.
type Object struct {
	Kind  ObjKind
	Name  string
	Pos   Pos
	Value int64   // Constant, Symbol
	Set   []int64 // SetName
	Index int     // among the objects of its kind; for LocalVar in its process
	Len   int     // SharedArray
	Proc  *Process
}
