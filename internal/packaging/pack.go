package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"text/template"
	"time"
)

// A pack is a package: files in order, and how they are packed.
type pack struct {
	name   string // of the packed file
	purl   string // its name where it is published, or ""
	folder string // of unpacked files
	files  []file
	beside []file  // further files of the folder, which are not packed
	holds  []built // the binaries in it, or in packages that it needs
	form   func(w io.Writer, files []file) error
	packed []byte
}

// A file is a file of a package.
type file struct {
	name       string // with slashes, relative to the package
	data       []byte
	executable bool
}

// mode returns the file's mode in a package.
func (f file) mode() fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// epoch is the modification time of all packed files: the first time that a zip can
// hold. It is fixed so that the same files give the same package.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// unpack writes the files to a folder, from which package managers install too.
func (p pack) unpack(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	for _, f := range slices.Concat(p.files, p.beside) {
		name := filepath.Join(folder, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.data, f.mode()); err != nil {
			return err
		}
	}
	return nil
}

// tarball returns a function that packs files under prefix as a gzipped tar.
func tarball(prefix string) func(io.Writer, []file) error {
	return func(w io.Writer, files []file) error {
		z := gzip.NewWriter(w)
		t := tar.NewWriter(z)
		for _, f := range files {
			err := t.WriteHeader(&tar.Header{Name: path.Join(prefix, f.name), Mode: int64(f.mode()), Size: int64(len(f.data)), ModTime: epoch})
			if err != nil {
				return err
			}
			if _, err := t.Write(f.data); err != nil {
				return err
			}
		}
		if err := t.Close(); err != nil {
			return err
		}
		return z.Close()
	}
}

// zipped packs files as a zip.
func zipped(w io.Writer, files []file) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: epoch}
		header.SetMode(f.mode())
		entry, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.data); err != nil {
			return err
		}
	}
	return z.Close()
}

// rendered returns the templates under root, executed with data.
func rendered(root string, data any) (files []file, err error) {
	err = fs.WalkDir(templates, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		t, err := template.ParseFS(templates, name)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, data); err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		files = append(files, file{name: filepath.ToSlash(relative), data: b.Bytes()})
		return err
	})
	return files, err
}
