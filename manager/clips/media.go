package clips

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"leasehold/shared/clips/decode"
	"leasehold/shared/fetch"
)

// audioType returns the MIME type of a file's extension, "" unless recordings use it. The worker that
// decodes the file finds out whether it is one.
func audioType(name string) string { return decode.MediaType(name) }

func isAudio(name string) bool { return audioType(name) != "" }

// fileVersion returns a text that differs if the file's content may have changed.
func fileVersion(info fs.FileInfo) string {
	return fmt.Sprintf("%d-%d", info.Size(), info.ModTime().UnixNano())
}

// checkRegular checks that a name is a regular file that can be read and is not empty. Its
// errors are for people; errors.Is finds fs.ErrNotExist.
func checkRegular(root *os.Root, name string) (fs.FileInfo, error) {
	f, info, err := fetch.OpenRegular(root, name)
	if err != nil {
		return nil, withoutPath(err)
	}
	f.Close()
	if info.Size() == 0 {
		return nil, errors.New("the file is empty")
	}
	return info, nil
}

// readSmall reads a regular file of at most most bytes, and refuses any other. It does not block at a named pipe.
func readSmall(root *os.Root, name string, most int64) ([]byte, error) {
	f, _, err := fetch.OpenRegular(root, name)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return content, withoutPath(err)
}

// withoutPath drops the operation and the path from an error, because the problem names the item.
// nil stays nil.
func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ELOOP):
		return errors.New("a link that leads nowhere")
	case strings.Contains(err.Error(), "escapes"): // os.Root has no sentinel for it
		return errors.New("leads out of the folder; links must stay within it")
	}
	return err
}
