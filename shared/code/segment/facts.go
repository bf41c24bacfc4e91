package segment

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"leasehold/shared/code"
)

// Limits of the facts about one blob. A symbol past one of them is dropped or cut.
const (
	maxSymbols = 100_000
	maxName    = 512 // bytes of a name; longer signatures and scopes are cut
)

// validSymbol reports whether a symbol of a blob with this many lines is kept: it has a name of at
// most maxName bytes without control characters, such as the line feed that ends a stored name, and
// a line that the blob has.
func validSymbol(s code.Symbol, lines int) bool {
	return s.Name != "" && len(s.Name) <= maxName && s.Line >= 1 && s.Line <= lines &&
		strings.IndexFunc(s.Name, func(r rune) bool { return r < ' ' }) < 0
}

// Kept returns a blob as an index keeps it. A blob that is binary, past a limit or skipped already
// has the reason, and no content, symbols or functions. Others have their first maxSymbols valid
// symbols, by line; a symbol of a line that the blob does not have is not valid. It shares the
// content, and sorts b.Functions in place. Kept counts trigrams with t, whose earlier results end.
// It fails with fault.ErrInvalid for a wrong object id.
func Kept(b code.Blob, t *Trigrams) (code.Blob, error) {
	if err := b.OID.Check(); err != nil {
		return b, err
	}
	if b.Size == 0 {
		b.Size = int64(len(b.Content))
	}
	if b.Skipped == "" {
		b.Skipped = code.SkipReason(b.Content)
	}
	// A text has fewer trigrams than bytes, so only a long one is counted.
	if b.Skipped == "" && len(b.Content) > code.MaxTrigrams && len(t.Of(b.Content)) > code.MaxTrigrams {
		b.Skipped = code.SkipTrigrams
	}
	if b.Skipped != "" {
		b.Content, b.Symbols, b.Functions = nil, nil, nil
		return b, nil
	}
	lines := bytes.Count(b.Content, []byte("\n"))
	if n := len(b.Content); n > 0 && b.Content[n-1] != '\n' {
		lines++
	}
	var kept []code.Symbol
	for _, s := range b.Symbols {
		if validSymbol(s, lines) && len(kept) < maxSymbols {
			kept = append(kept, s)
		}
	}
	b.Symbols = kept
	slices.SortStableFunc(b.Symbols, func(x, y code.Symbol) int { return cmp.Compare(x.Line, y.Line) })
	slices.SortStableFunc(b.Functions[:min(len(b.Functions), maxSymbols)], func(x, y code.FunctionReport) int { return cmp.Compare(x.Line, y.Line) })
	return b, nil
}

// appendFacts encodes the facts about a blob: sizes, symbols, reports. A symbol has the difference
// of its line to the one before's, and its length in bytes, so that a reader passes over it without
// decoding it.
func appendFacts(dst []byte, b code.Blob) []byte {
	for _, n := range []int{int(b.Size), b.Lines, b.Code, b.Comment, b.Complexity, len(b.Symbols)} {
		dst = appendInt(dst, n)
	}
	line := 0
	var record []byte
	for _, s := range b.Symbols {
		dst = appendInt(dst, s.Line-line)
		line = s.Line
		record = record[:0]
		for _, text := range []string{s.Name, s.Kind, s.Scope, s.Signature} {
			record = appendText(record, text)
		}
		record = appendInt(record, max(s.End-s.Line, 0)<<1|flag(s.Approx))
		dst = append(appendInt(dst, len(record)), record...)
	}
	dst = appendInt(dst, len(b.Functions))
	for _, f := range b.Functions {
		dst = appendText(appendText(dst, f.Function), f.Receiver)
		for _, n := range []int{f.Line, f.A, f.B, f.C} {
			dst = appendInt(dst, n)
		}
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f.Score))
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f.ABCSeed))
	}
	return dst
}

// flag returns 1 for true and 0 for false.
func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func appendInt(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(max(n, 0))) }

func appendText(dst []byte, text string) []byte {
	text = text[:min(len(text), maxName)]
	return append(appendInt(dst, len(text)), text...)
}

// decoder reads numbers and texts from data. If data ends early or has a wrong number, it sets
// bad, and from then on returns zeros and empty texts.
type decoder struct {
	data []byte
	bad  bool
}

// number reads a varint. If there is none, it sets bad, drops the rest and returns 0, so that the
// caller checks once at the end.
func (d *decoder) number() int {
	v, n := binary.Uvarint(d.data)
	if n <= 0 || v > math.MaxInt64 {
		d.bad, d.data = true, nil
		return 0
	}
	d.data = d.data[n:]
	return int(v)
}

// bytes returns the next n bytes, in the memory of data. If there are fewer, it sets bad, drops
// the rest and returns nil.
func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.data) {
		d.bad, d.data = true, nil
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) text() string { return string(d.bytes(d.number())) }

// float reads eight bytes as a number; 0 if there are fewer, as in bytes.
func (d *decoder) float() float64 {
	b := d.bytes(8)
	if d.bad {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// info reads the sizes, which precede the symbols. Go evaluates the calls from left to right.
func (d *decoder) info() code.BlobInfo {
	return code.BlobInfo{Size: int64(d.number()), Lines: d.number(), Code: d.number(), Comment: d.number(), Complexity: d.number()}
}

// eachSymbol calls visit for each symbol with its line until visit returns false; read decodes
// the rest of the symbol. It stops at damage. The decoder is at the reports only if visit
// returned true for all symbols.
func (d *decoder) eachSymbol(visit func(line int, read func() code.Symbol) bool) {
	line := 0
	for range min(d.number(), maxSymbols) {
		line += d.number()
		record := decoder{data: d.bytes(d.number())}
		if d.bad || !visit(line, func() code.Symbol { return record.symbol(line) }) {
			return
		}
	}
}

// symbol reads the symbol that appendFacts wrote, without its line. After a short file its fields
// are zero, and bad is set.
func (d *decoder) symbol(line int) code.Symbol {
	s := code.Symbol{Line: line, Name: d.text(), Kind: d.text(), Scope: d.text(), Signature: d.text()}
	lengthAndApprox := d.number() // as appendFacts writes it: the lowest bit is Approx
	s.End, s.Approx = line+lengthAndApprox>>1, lengthAndApprox&1 == 1
	return s
}

// functions reads the reports behind the symbols; of a damaged record, those before the damage.
func (d *decoder) functions() []code.FunctionReport {
	var all []code.FunctionReport
	for range min(d.number(), maxSymbols) {
		f := code.FunctionReport{Function: d.text(), Receiver: d.text(), Line: d.number(), A: d.number(), B: d.number(), C: d.number(), Score: d.float(), ABCSeed: d.float()}
		if d.bad {
			break
		}
		all = append(all, f)
	}
	return all
}
