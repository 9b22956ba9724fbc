package emulate

import (
	"fmt"
	"os"
	"path/filepath"
)

// kept returns a folder that is made once and kept among the user's caches. A process that makes it at the same time as another
// process makes his own and discards it if he comes second.
func kept(name string, fill func(draft string) error) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil { // without a home
		cache = os.TempDir()
	}
	folder := filepath.Join(cache, "geosql", name)
	if isFolder(folder) {
		return folder, nil
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return "", err
	}
	draft, err := os.MkdirTemp(filepath.Dir(folder), "draft-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(draft)
	if err := fill(draft); err != nil {
		return "", fmt.Errorf("cannot make %s: %w", name, err)
	}
	if err := os.Rename(draft, folder); err != nil && !isFolder(folder) {
		return "", err
	}
	return folder, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
