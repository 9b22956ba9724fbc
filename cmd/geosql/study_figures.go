package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// makeFigureDir makes the directory of the figures, unless there are to be none.
func makeFigureDir(dir string) error {
	if dir == "" {
		return nil
	}
	return os.MkdirAll(dir, 0o777)
}

// writeFigure writes a figure and says where it is.
func writeFigure(dir, name string, figure io.WriterTo) error {
	path := filepath.Join(dir, name+".svg")
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
	fmt.Fprintln(os.Stderr, "wrote", path)
	return nil
}
