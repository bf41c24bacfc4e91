package code

import (
	"path"
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

// LanguagesOfExtension returns the languages of files with an extension, such as kt or .kt, in lower case
// as IsLanguage accepts them; nil if no language has it, or more than maxLanguages.
func LanguagesOfExtension(extension string) (names []string) {
	const maxLanguages = 4 // more would not help a person
	all := data.LanguagesByExtension["."+strings.TrimPrefix(strings.ToLower(extension), ".")]
	if len(all) > maxLanguages {
		return nil
	}
	for _, name := range all {
		names = append(names, strings.ToLower(name))
	}
	return names
}

// FileLang returns the language of a file. An empty blob occurs under many names, so its language is
// that of the name; other blobs have one.
func FileLang(name string, b BlobInfo) string {
	if b.Size > 0 || b.Skipped != "" {
		return b.Lang
	}
	base := path.Base(name)
	if found := data.LanguagesByFilename[base]; len(found) > 0 {
		return found[0]
	}
	for lower, i := strings.ToLower(base), 0; i < len(lower); i++ {
		if lower[i] != '.' {
			continue
		}
		if lower[i:] == ".showcase" {
			return Showcase
		}
		if found := data.LanguagesByExtension[lower[i:]]; len(found) > 0 {
			return found[0]
		}
	}
	return ""
}
