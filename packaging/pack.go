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

// A pack is a package: files in order, and the function that packs them.
type pack struct {
	name   string // of the packed file
	folder string // under package/
	files  []packed
	beside []packed // further files of the folder, which are not packed
	pack   func(w io.Writer, files []packed) error
}

// A packed is a file of a package.
type packed struct {
	name string // with slashes, relative to the package
	data []byte
}

// epoch is the modification time of all packed files: the first time that a zip can
// hold. It is fixed so that the same files give the same package.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// write writes the folder and the package, and returns the name of the package.
func (p pack) write(out string) (string, error) {
	folder := filepath.Join(out, "package", p.folder)
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	for _, f := range slices.Concat(p.files, p.beside) {
		name := filepath.Join(folder, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(name, f.data, 0o644); err != nil {
			return "", err
		}
	}
	var b bytes.Buffer
	if err := p.pack(&b, p.files); err != nil {
		return "", err
	}
	name := filepath.Join(out, p.name)
	return name, os.WriteFile(name, b.Bytes(), 0o644)
}

// tarball returns a function that packs files under prefix as a gzipped tar.
func tarball(prefix string) func(io.Writer, []packed) error {
	return func(w io.Writer, files []packed) error {
		z := gzip.NewWriter(w)
		t := tar.NewWriter(z)
		for _, f := range files {
			err := t.WriteHeader(&tar.Header{Name: path.Join(prefix, f.name), Mode: 0o644, Size: int64(len(f.data)), ModTime: epoch})
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
func zipped(w io.Writer, files []packed) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: epoch}
		header.SetMode(0o644)
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

// rendered returns the templates under root, executed.
func (r release) rendered(root string) (files []packed, err error) {
	err = fs.WalkDir(templates, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		t, err := template.ParseFS(templates, name)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, r); err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if relative == "." {
			relative = name
		}
		files = append(files, packed{filepath.ToSlash(relative), b.Bytes()})
		return err
	})
	return files, err
}
