package analyse

import (
	"context"
	"strings"

	"leasehold/shared/code"
)

// Bounds of one blob.
const (
	maxSymbols   = 20_000
	maxFunctions = 20_000
	maxSignature = 200 // bytes
)

// Analyser analyses files. It may be used concurrently.
type Analyser struct{ ctags *ctags }

// New returns an Analyser that finds symbols with the universal-ctags at the path
// ctagsPath, or by rules if it is empty. Close ends its processes.
func New(ctagsPath string) *Analyser {
	a := &Analyser{}
	if ctagsPath != "" {
		a.ctags = &ctags{path: ctagsPath}
	}
	return a
}

// Close ends the idle processes of ctags; one in use ends with its call. Without ctags it does
// nothing.
func (a *Analyser) Close() error { return a.ctags.close() }

// Blob returns the document of a blob that occurs at the given path. A blob that must not
// be indexed has the reason, and neither content nor symbols. Of UTF-16 the content is the text
// (code.DecodeUTF16). An error means that ctx has
// ended.
func (a *Analyser) Blob(ctx context.Context, name string, oid code.OID, content []byte) (code.Blob, error) {
	size := int64(len(content))
	if text, ok := code.DecodeUTF16(content); ok {
		content = text
	}
	b := code.Blob{OID: oid, BlobInfo: code.BlobInfo{Size: size, Skipped: code.SkipReason(content)}}
	if b.Skipped != "" {
		return b, nil
	}
	b.Content = content
	b.Lang = Language(name, content)
	b.Generated = isGenerated(name, b.Lang, content)
	counted := countLines(b.Lang, content)
	b.Lines, b.Code, b.Comment, b.Complexity = counted.lines, counted.code, counted.comment, counted.complexity
	if b.Lang == "Go" {
		b.Symbols, b.Functions = parseGo(content)
		return b, nil
	}
	var err error
	b.Symbols, err = a.symbols(ctx, b.Lang, content)
	return b, err
}

// symbols returns the symbols that ctags finds. If ctags is not installed, does not know the
// language, or fails on the file, symbols returns those that the rules find. So an error means
// that ctx has ended.
func (a *Analyser) symbols(ctx context.Context, lang string, content []byte) ([]code.Symbol, error) {
	if a.ctags != nil && ctagsKnows(lang) {
		found, err := a.ctags.symbols(ctx, lang, content)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			return found, nil
		}
	}
	return bySimpleRules(lang, content), nil
}

// oneLine returns text with single spaces for all white space, cut to maxSignature bytes of valid
// UTF-8. It reads four times as many bytes of text, because white space shrinks.
func oneLine(text string) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text[:min(len(text), 4*maxSignature)]), " "), "")
	if len(text) > maxSignature {
		text = strings.ToValidUTF8(text[:maxSignature], "")
	}
	return text
}
