package emulate

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A module of Go has Python for many platforms in it, and pip. It is downloaded when a test asks, and nothing is linked
// with it.
const pythonModule = "github.com/kluctl/go-embed-python"

// A python is where Python is for one platform.
type python struct {
	version  string // of the module
	program  string // in Python's folder
	packages string // there, too
}

// Python returns the path of a Python for the platform, with pip and an sqlite3 that loads extensions. Unpacking
// it takes seconds and 70 MB. Under wine, all its standard files have to be pipes.
func (p Platform) Python(ctx context.Context) (string, error) {
	folder, err := kept(fmt.Sprintf("python-%s-%s-%s", p.python.version, p.OS, p.Arch), func(draft string) error {
		module, err := download(ctx, pythonModule+"@"+p.python.version)
		if err != nil {
			return err
		}
		if err := unpack(draft, filepath.Join(module, "python", "internal", "data", p.OS+"-"+p.Arch)); err != nil {
			return err
		}
		return unpack(filepath.Join(draft, p.python.packages), filepath.Join(module, "pip", "internal", "data"))
	})
	return filepath.Join(folder, p.python.program), err
}

// download returns the folder of a module of Go.
func download(ctx context.Context, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir() // where no go.mod asks for a sum
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	var answer struct{ Dir string }
	return answer.Dir, json.Unmarshal(out, &answer)
}

// unpack copies a folder, with the files with names in .gz uncompressed.
func unpack(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		name, compressed := strings.CutSuffix(name, ".gz")
		return unpackFile(filepath.Join(to, name), path, compressed)
	})
}

func unpackFile(to, from string, compressed bool) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	var content io.Reader = source
	if compressed {
		if content, err = gzip.NewReader(source); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755) // the module does not tell which files are programs
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := io.Copy(file, content); err != nil {
		return err
	}
	return file.Close()
}
