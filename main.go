// Leasehold is a work system coordinated through tuple spaces: see README.md.
package main

import (
	"os"

	"leasehold/cmd"
)

func main() { os.Exit(cmd.Main()) }
