package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"

	"github.com/geosql/geosql/internal/cli"
)

// figures are written to a directory, if there is one.
type figures struct{ dir string }

func (f *figures) register(fs *flag.FlagSet) {
	fs.StringVar(&f.dir, "out", "", "draw figures (SVG) in `DIR`")
}

// wanted reports whether figures are wanted.
func (f figures) wanted() bool { return f.dir != "" }

// makeDir makes the directory.
func (f figures) makeDir() error {
	if !f.wanted() {
		return nil
	}
	return os.MkdirAll(f.dir, 0o777)
}

// write writes a figure and says where it is. It returns the error of drawing it, if any.
func (f figures) write(name string, figure io.WriterTo, err error) error {
	if err != nil {
		return err
	}
	path := filepath.Join(f.dir, name+".svg")
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = figure.WriteTo(file)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	cli.Say("wrote %s", path)
	return nil
}

// oneFigure returns a function that draws the rows of an experiment in one figure.
func oneFigure[R any](f figures, name string, draw func(rows []R) (io.WriterTo, error)) func(rows []R) error {
	return func(rows []R) error {
		figure, err := draw(rows)
		return f.write(name, figure, err)
	}
}
