//go:build unix

package file

import "syscall"

// fileID tells a file from all others that there are at the time.
type fileID struct{ device, number uint64 }

func (f fileID) same(g fileID) bool { return f == g }

// A looker looks at files. Every transaction does so at several: os.Stat would allocate
// more for each.
type looker struct{ stat syscall.Stat_t }

// identify tells which file a path leads to, and how many names that has.
func (l *looker) identify(path string) (id fileID, names uint64, err error) {
	if err := syscall.Stat(path, &l.stat); err != nil {
		return fileID{}, 0, err
	}
	return fileID{uint64(l.stat.Dev), uint64(l.stat.Ino)}, uint64(l.stat.Nlink), nil
}
