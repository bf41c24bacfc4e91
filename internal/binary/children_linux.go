package binary

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// Child returns the process that p has started with a word among its arguments; 0 if there is none.
func (p *Process) Child(word string) int {
	p.t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(p.t, err)
	for _, folder := range folders {
		stat, _ := os.ReadFile(filepath.Join(folder, "stat")) // a process that has ended has none
		words, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		_, fields, _ := strings.Cut(string(stat), ") ")
		isChild := strings.HasPrefix(fields[min(2, len(fields)):], fmt.Sprint(p.Pid(), " ")) // behind the state
		if isChild && strings.Contains("\x00"+string(words), "\x00"+word+"\x00") {
			pid, err := strconv.Atoi(filepath.Base(folder))
			require.NoError(p.t, err)
			return pid
		}
	}
	return 0
}

// Damage replaces the last occurrence of a text in a file by another one of the same length, while other processes have
// the file open.
func (p *Process) Damage(path, text, by string) {
	p.t.Helper()
	require.Len(p.t, by, len(text))
	data, err := os.ReadFile(path)
	require.NoError(p.t, err)
	at := strings.LastIndex(string(data), text)
	require.GreaterOrEqual(p.t, at, 0, text)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(p.t, err)
	_, err = f.WriteAt([]byte(by), int64(at))
	require.NoError(p.t, err)
	require.NoError(p.t, f.Close())
}
