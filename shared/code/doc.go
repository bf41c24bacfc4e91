// Package code is the vocabulary of code search: the documents that are indexed
// (Blob, Symbol, FunctionReport), the files that a repository's generation consists of
// (Manifest, Ref, File), the query language (Parse, Query), and the interface of an index
// (Searcher).
//
// A blob is file content by its hash. It is indexed once, whatever repositories and paths
// it occurs in. A generation is the set of files that searches of one repository see; it
// is replaced as a whole (Publish), so that a search never sees a part of one.
//
// A search is evaluated for each file: words are and-ed, and a file matches if the whole
// query holds for it. A word holds if the text or the path has it. The matches of a file are
// the lines in which a word or a regular expression of the query occurs; if there are none,
// the file itself. A regular expression is matched line by line, as grep does, unless it
// contains \n or a dot under (?s); then it is matched against the whole file, and each line
// that a match touches is reported.
//
// Beside it: gitrepo reads repositories, analyse detects languages, embedded and elastic store
// the index.
package code
