package code

import (
	"slices"
	"strings"

	"github.com/go-enry/go-enry/v2/data"
)

// Showcase is the language of files whose name ends in .showcase.
const Showcase = "Showcase"

// languageName returns the name of a language by its name or an alias, such as golang or py; an
// unknown name as it is.
func languageName(alias string) string {
	if name, ok := data.LanguageByAlias(alias); ok {
		return name
	}
	return alias
}

// IsLanguage reports whether files may have a language of this name.
func IsLanguage(name string) bool {
	_, ok := data.LanguageByAlias(name)
	return ok || strings.EqualFold(name, Showcase)
}

// LanguageAliases returns the names and aliases of all languages in lower case, sorted.
func LanguageAliases() []string {
	all := []string{strings.ToLower(Showcase)}
	for alias := range data.LanguageByAliasMap {
		all = append(all, strings.ReplaceAll(alias, "_", " "))
	}
	slices.Sort(all)
	return all
}
