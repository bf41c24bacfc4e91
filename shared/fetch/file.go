package fetch

// File is content on this machine: its path, its "sha256:..." hash and length. It
// stays at the path until Close.
type File struct {
	Path, Hash string
	Bytes      int64
	release    func()
}

// Close lets the cache have the file back.
func (f File) Close() error {
	if f.release != nil {
		f.release()
	}
	return nil
}
