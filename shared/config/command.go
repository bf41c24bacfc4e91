package config

import (
	"os"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"leasehold/models"
)

// Command is a program that does the tasks of an action.
type Command struct {
	Action string
	Words  []string // the program and its arguments; at least one
}

// The variables in the environment of a command that does a task.
const (
	TaskIDEnv       = "LEASEHOLD_TASK_ID"
	TaskActionEnv   = "LEASEHOLD_TASK_ACTION"
	TaskAttemptsEnv = "LEASEHOLD_TASK_ATTEMPTS" // that failed before this one
	TaskTagsEnv     = "LEASEHOLD_TASK_TAGS"     // in lines
	TaskParentsEnv  = "LEASEHOLD_TASK_PARENTS"  // the path of a file with the results of its parents; only if it has some
)

// The variables in the environment of the command of `leasehold autoscale`.
const (
	ScaleActionEnv  = "LEASEHOLD_AUTOSCALE_ACTION"
	ScaleFromEnv    = "LEASEHOLD_AUTOSCALE_FROM"    // number of workers
	ScaleToEnv      = "LEASEHOLD_AUTOSCALE_TO"      // number of workers that there shall be
	ScaleDrainedEnv = "LEASEHOLD_AUTOSCALE_DRAINED" // sessions that were drained, separated by spaces; empty if workers are added
)

// commandEnvs are the variables that commands get from leasehold. A command may call leasehold, which ignores them.
var commandEnvs = []string{
	TaskIDEnv, TaskActionEnv, TaskAttemptsEnv, TaskTagsEnv, TaskParentsEnv,
	ScaleActionEnv, ScaleFromEnv, ScaleToEnv, ScaleDrainedEnv,
}

// ChildEnvironment returns the environment of this process without its settings, so that a
// command may call leasehold with settings of its own.
func ChildEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LEASEHOLD_") })
}

// program is a command: words as a shell splits them, but no shell runs.
type program struct{ to *[]string }

// set reads a command with its arguments, quoted as in a shell. Unbalanced quotes are
// errNotAccepted.
func (p program) set(text string) error {
	words, err := SplitCommand(text)
	if err != nil {
		return errNotAccepted
	}
	*p.to = words
	return nil
}

// SplitCommand returns the words of a command with its arguments, quoted as in a shell. It fails if a quote is not
// closed.
func SplitCommand(text string) ([]string, error) { return shellquote.Split(text) }
func (p program) accepts() string                { return "a command with each quote closed" }
func (p program) kind() string                   { return "command" }
func (p program) String() string                 { return shellquote.Join(*p.to...) }

// commands is a list of ACTION=COMMAND, one in each line. No shell reads the commands; quotes
// and backslashes keep words together, as in a shell.
type commands struct{ to *[]Command }

// set reads lines ACTION=COMMAND. Empty lines are skipped. errNotAccepted: an action of our own,
// one that has a command already, or a command without words.
func (c commands) set(text string) error {
	var list []Command
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		action, command, _ := strings.Cut(line, "=")
		words, err := shellquote.Split(command)
		_, ours := models.ActionNamed(action)
		taken := slices.ContainsFunc(list, func(other Command) bool { return other.Action == action })
		if err != nil || len(words) == 0 || !models.ValidID(action) || ours || taken {
			return errNotAccepted
		}
		list = append(list, Command{action, words})
	}
	*c.to = list
	return nil
}

func (c commands) accepts() string {
	return "ACTION=COMMAND, one command for each action, other actions than " + strings.Join(models.ActionNames(), " and ") + ", and with each quote closed"
}
func (c commands) kind() string { return "commands" }

// String returns the text that set reads.
func (c commands) String() string {
	lines := make([]string, len(*c.to))
	for i, one := range *c.to {
		lines[i] = one.Action + "=" + shellquote.Join(one.Words...)
	}
	return strings.Join(lines, "\n")
}
