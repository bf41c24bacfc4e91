// Package original has the models of the report on the original system, as it prints them. README.md tells what each
// shows.
package original

import "embed"

//go:embed *.init *.tup
var files embed.FS

// Read returns the two boxes of a model that has both, "small" or "big".
func Read(name string) (initialisation, program string, err error) {
	first, err := files.ReadFile(name + ".init")
	if err != nil {
		return "", "", err
	}
	second, err := files.ReadFile(name + ".tup")
	return string(first), string(second), err
}
