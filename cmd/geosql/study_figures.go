package main

import (
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

// drawFigure draws the rows of a study, unless there are to be no figures.
func drawFigure[R any](dir, name string, draw func(rows []R) (io.WriterTo, error), rows []R) error {
	if dir == "" {
		return nil
	}
	figure, err := draw(rows)
	if err != nil {
		return err
	}
	return writeFigure(dir, name, figure)
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
	say("wrote %s", path)
	return nil
}
