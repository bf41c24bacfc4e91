package syntax

// Program is one model.
type Program struct {
	File     string
	Decls    []*Decl
	Procs    []*Process
	Props    []*Property
	Comments []Comment
	Symbols  []string // SymbolBase + i is the value of the i-th

	procsAt, propsAt Pos  // where these parts begin
	ends             Pos  // of the file
	par              bool // the processes stand between par and rap
}

// DeclKind says what a Decl declares.
type DeclKind uint8

// What may be declared.
const (
	VarDecl    DeclKind = iota // x = 1
	ArrayDecl                  // A = [1, 2]
	SpaceDecl                  // S = (R, INF, {(1, 2)})
	ConstDecl                  // const N = 1
	SetDecl                    // const Items = {1, 2}, or 1..N
	SymbolDecl                 // symbol active
)

// Decl is one declaration of the initialisation.
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
	Count *Expr // nil: one
	Name  *Name // nil: it has none
	Param *Name // nil: it has none; in the copies 1, 2, … Count
	Body  []*Stmt
	Title string // its name, or P1, P2, … by its place
}

// StmtKind says what a Stmt does.
type StmtKind uint8

// The statements.
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
	End    Pos      // where its last word or brace is, if it ends with one
}

// GuardKind says when a Guard lets in.
type GuardKind uint8

// The guards.
const (
	When    GuardKind = iota // Cond holds
	OnOp                     // Op can be done, and is
	Else                     // no other guard of the statement lets in
	Timeout                  // nothing else in the whole program can be done
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

// Verb is what is done at a space.
type Verb string

// The operations.
const (
	Put    Verb = "put"
	Get    Verb = "get"
	Query  Verb = "query"
	GetP   Verb = "getp"   // as Get, but it goes on when nothing matches
	QueryP Verb = "queryp" // as Query, likewise
)

// Takes reports whether v removes the tuple that it finds.
func (v Verb) Takes() bool { return v == Get || v == GetP }

// FieldKind is what a field of a template is.
type FieldKind uint8

// The fields.
const (
	Actual FieldKind = iota // equal to X
	Formal                  // ?x: anything, and x is it from then on
	Any                     // _: anything
)

// Field is one field of a tuple or a template.
type Field struct {
	Pos  Pos
	Kind FieldKind
	X    *Expr // Actual
	Name *Name // Formal
}

// ExprKind is what an Expr is.
type ExprKind uint8

// The expressions, of numbers, of truth, and of time.
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
	Event                   // Verb(Space, Fields): the last step was that
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

// Set is what a quantifier runs over: a constant, a range, or a list.
type Set struct {
	Pos       Pos
	Name      *Name
	Low, High *Expr
	Elems     []*Expr
	Values    []int64 // known once the program is resolved
}

// PropKind says what a Property asks.
type PropKind uint8

// The properties.
const (
	Bound        PropKind = iota // bound S <= 3;
	Invariant                    // invariant p: b;
	DeadlockFree                 // deadlockfree except Worker, Server.idle;
	Eventually                   // eventually p: b under weakfair;
	LeadsTo                      // leadsto p: b ~> c under weakfair;
	LTL                          // ltl p: f under weakfair;
)

// Property is one claim about a program.
type Property struct {
	Pos    Pos
	Kind   PropKind
	Name   string // given, or made of the kind and the space
	Space  *Name  // Bound
	X, Y   *Expr  // Bound: the limit; LeadsTo: from X to Y
	Fair   bool   // under weakfair
	Except []Place
}

// Place is where processes may wait for ever: anywhere, or at a label.
type Place struct {
	Process *Name
	Label   *Name // nil: anywhere
}

// Name is a name where it stands.
type Name struct {
	Pos  Pos
	Text string
	Obj  *Object // once the program is resolved
}

// ObjKind is what a name stands for.
type ObjKind uint8

// What names stand for.
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

// Object is what a name stands for.
type Object struct {
	Kind  ObjKind
	Name  string
	Pos   Pos
	Value int64   // Constant, Symbol
	Set   []int64 // SetName
	Index int     // of its kind; LocalVar: in its process
	Len   int     // SharedArray
	Proc  *Process
}
