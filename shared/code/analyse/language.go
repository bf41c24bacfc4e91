package analyse

import (
	"bytes"
	"path"
	"strings"

	enry "github.com/go-enry/go-enry/v2"

	"leasehold/shared/code"
)

// Bytes of a file, from its start, that a step of the detection reads. The two later steps
// are the slow ones, and are reached only by names that several languages share. With the
// sizes here they took a third of the time that they took with 16 KiB, and of 4,900 files
// of GOROOT, the module cache and /usr/share they changed the language of 3, apart from
// assembly.
const (
	sampleBytes     = 16 << 10 // names of interpreters, editors' settings, marks of generators
	heuristicsBytes = 8 << 10  // regular expressions for a file name extension
	classifierBytes = 2 << 10  // frequencies of words
)

// languageSteps are the steps of Linguist in its order, each with the number of bytes that
// it reads. A step may narrow the languages that those before it left.
var languageSteps = []struct {
	detect enry.Strategy
	bytes  int
}{
	{enry.GetLanguagesByModeline, sampleBytes},
	{enry.GetLanguagesByFilename, sampleBytes},
	{enry.GetLanguagesByShebang, sampleBytes},
	{enry.GetLanguagesByExtension, sampleBytes},
	{enry.GetLanguagesByXML, sampleBytes},
	{enry.GetLanguagesByManpage, sampleBytes},
	{enry.GetLanguagesByContent, heuristicsBytes},
	{enry.GetLanguagesByClassifier, classifierBytes},
}

// Language returns the name of a file's language as go-enry spells it, Showcase, or "" if it is
// unknown. The file is text. The steps narrow the candidates down: the first that leaves one
// decides, and of those that are left behind the last step it is the first.
func Language(name string, content []byte) string {
	switch extension := strings.ToLower(path.Ext(name)); {
	case extension == ".showcase":
		return code.Showcase
	case extension == ".s" && bytes.Contains(firstLines(content, sampleBytes), []byte("(SB)")):
		// Linguist does not know Go's assembly, and takes it for a different dialect in
		// each file.
		return "Assembly"
	}
	var candidates []string
	for _, step := range languageSteps {
		found := step.detect(path.Base(name), firstLines(content, step.bytes), candidates)
		if len(found) == 1 {
			return found[0]
		}
		if len(found) > 1 {
			candidates = found
		}
	}
	if len(candidates) == 0 {
		return ""
	}
	return candidates[0]
}

// Vendored reports whether a path belongs to a copy of another project's code.
func Vendored(name string) bool { return enry.IsVendor(name) }

// IsTest reports whether a path is a test's, by the habits of its language.
func IsTest(name string) bool { return enry.IsTest(name) }

// firstLines returns the lines at the start of a file that fit into size bytes, or size
// bytes of the first line if it is longer.
func firstLines(content []byte, size int) []byte {
	if len(content) <= size {
		return content
	}
	if i := bytes.LastIndexByte(content[:size], '\n'); i > 0 {
		return content[:i+1]
	}
	return content[:size]
}
