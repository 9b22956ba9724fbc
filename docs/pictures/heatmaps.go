package main

import (
	"math/big"
	"math/rand/v2"

	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// heatMaps draws 12,000 people of a made-up town, a flat heat map of them and an adaptive one, at epsilon 1. They and the noise are
// the same in every run.
func heatMaps() (string, error) {
	const panel = 230.0
	domain, err := planar.NewDomain("town", 47.34, 8.49, 47.412, 8.596, 1)
	if err != nil {
		return "", err
	}
	var lat, lon [12_000]float64
	people := rand.New(rand.NewPCG(1, 2))
	for i := range lat {
		lat[i], lon[i] = townsman(people)
	}
	c := newCanvas(3*panel+40, 312, "Where people are, and two heat maps of them at epsilon 1")
	for i, m := range []struct {
		name, eps string
		cellM     float64
		of        func(*big.Rat, float64) (*planar.Heatmap, error)
	}{
		{"the people, a secret", "100000", 250, domain.Heatmap},
		{"flat, cells of 126 m", "1", 126, domain.Heatmap},
		{"adaptive, from 63 m", "1", 63, domain.AdaptiveHeatmap},
	} {
		eps, _ := new(big.Rat).SetString(m.eps)
		h, err := m.of(eps, m.cellM)
		if err != nil {
			return "", err
		}
		grid, err := domain.Grid(m.cellM)
		if err != nil {
			return "", err
		}
		columns, rows := grid.Size()
		var counts planar.CellCounts
		for i := range lat {
			h.Add(&counts, lat[i], lon[i])
		}
		var squares []square
		for _, s := range h.Draw(exact.NewSource(rand.NewChaCha8([32]byte{3})), &counts) {
			share := 250 / (float64(s.Side) * m.cellM)
			squares = append(squares, square{s.Cell % columns, s.Cell / columns, s.Side, float64(s.N) * share * share})
		}
		c.shaded(10+float64(i)*(panel+10), panel, m.name, columns, rows, squares)
	}
	c.legend(280, "people in 250 m x 250 m, at least")
	return c.done(), nil
}
