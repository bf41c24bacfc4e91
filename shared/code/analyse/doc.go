// Package analyse turns the content of a file into a document of code search: its
// language, its lines of code and comments, its complexity, whether it was generated, its
// symbols, and for Go the size of each function.
//
//   - Language: go-enry, by name and content; and Showcase, by the suffix .showcase.
//   - Lines: every line is code, comment or blank. A line with both is code. Complexity is
//     the number of tokens that branch (if, for, case, catch, &&, ||, ?) plus one.
//   - Symbols: go/parser for Go; universal-ctags, as a separate process, for other
//     languages if it is installed; else rules for the ten commonest languages, whose
//     symbols are marked as approximate.
//   - Functions: A assignments, B branches (calls), C conditions, and the score
//     sqrt(A²+B²+C²); see measure for what counts. abc_seed is the score as the indexer
//     that inspired this one counted it, for comparison.
//
// The content is untrusted: nothing of it is executed, work is linear in its size, and
// numbers of symbols and functions are bounded. A Go file that does not parse has the
// functions of the part that does, and symbols by rules.
package analyse
