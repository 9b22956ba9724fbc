package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/geosql/geosql/study/predictive"
)

// drawStudy writes the figures of a study: one for each manager and predictor, and
// a map.
func drawStudy(dir string, study *predictive.Study, tracks []predictive.Track, rows []predictive.Row) error {
	for _, group := range figureGroups(rows) {
		figure, err := predictive.Figure(group)
		if err != nil {
			return err
		}
		if err := writeFigure(dir, group[0].Manager+"-"+group[0].Predictor, figure); err != nil {
			return err
		}
	}
	example, err := study.Example(tracks)
	if err != nil {
		return err
	}
	figure, err := predictive.Map(example)
	if err != nil {
		return err
	}
	return writeFigure(dir, "map", figure)
}

// figureGroups collects the rows of each figure, in their order.
func figureGroups(rows []predictive.Row) (groups [][]predictive.Row) {
	type key struct{ manager, predictor string }
	index := map[key]int{}
	for _, r := range rows {
		at, ok := index[key{r.Manager, r.Predictor}]
		if !ok {
			at = len(groups)
			index[key{r.Manager, r.Predictor}] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], r)
	}
	return groups
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
