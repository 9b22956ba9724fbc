package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/heatmap"
)

// A heatmapStudy measures how far heat maps of locations are from the truth.
type heatmapStudy struct {
	points   string // file
	columns  []string
	domain   []float64 // south, west, north, east
	settings heatmap.Settings
}

func (s *heatmapStudy) register(fs *flag.FlagSet) {
	s.columns = []string{"lat", "lon"}
	s.settings = heatmap.Settings{
		Epsilons: []float64{0.1, 1}, Cells: []float64{50, 100, 191, 382, 764, 1528}, Least: 48, Sides: []float64{400, 1500, 6000}, Draws: 50, Questions: 200,
	}
	fs.StringVar(&s.points, "points", "", "the locations: a `FILE`")
	cli.WordsVar(fs, &s.columns, "columns", "the `NAMES` of the columns lat,lon")
	cli.NumbersVar(fs, &s.domain, "domain", "the `BOX` SOUTH,WEST,NORTH,EAST; others are left out")
	cli.NumbersVar(fs, &s.settings.Epsilons, "epsilon", "the `EPSILONS` per location")
	cli.NumbersVar(fs, &s.settings.Cells, "cells", "the `SIDES` of the cells of flat maps, metres")
	cli.NumberVar(fs, &s.settings.Least, "least", "the `SIDE` of the least squares of adaptive maps, metres")
	cli.NumbersVar(fs, &s.settings.Sides, "sides", "the `SIDES` of the squares that are asked for, metres")
	fs.BoolVar(&s.settings.Whole, "whole", false, "ask for squares of whole least squares of adaptive maps")
	fs.IntVar(&s.settings.Draws, "draws", s.settings.Draws, "draw every map `N` times")
	fs.IntVar(&s.settings.Questions, "questions", s.settings.Questions, "ask for `N` squares of each side around locations")
}

func (s *heatmapStudy) check() error {
	switch {
	case s.points == "":
		return cli.UsageError("no file of locations given: -points FILE")
	case len(s.columns) != 2:
		return cli.UsageError("-columns names lat,lon")
	case len(s.domain) != 4:
		return cli.UsageError("-domain is SOUTH,WEST,NORTH,EAST")
	}
	return nil
}

func (s *heatmapStudy) run(ctx context.Context) (err error) {
	if s.settings.Domain, err = newDomain(s.domain, 1); err != nil {
		return cli.UsageError("-domain: " + err.Error())
	}
	study, err := heatmap.New(s.settings)
	if err != nil {
		return cli.UsageError(err.Error())
	}
	var points []heatmap.Point
	if err := cli.ReadColumns(ctx, s.points, singleNames(s.columns), func(_ func() string, cells []string) error {
		lat, err := cli.Number(cells[0])
		if err != nil {
			return err
		}
		lon, err := cli.Number(cells[1])
		if err == nil && !s.settings.Domain.Outside(lat, lon) {
			points = append(points, heatmap.Point{Lat: lat, Lon: lon})
		}
		return err
	}); err != nil {
		return err
	}
	if points == nil {
		return fmt.Errorf("%s has no locations in the domain", s.points)
	}
	return experiment[heatmap.Row]{
		table: table[heatmap.Row]{"map,cell_m,epsilon,side,mean_error", func(r heatmap.Row) string {
			return cells(r.Map, rounded(r.CellM, 9), rounded(r.Epsilon, 12), rounded(r.Side, 9), decimal(r.Error, 2))
		}},
		run: measuredOn(ctx, &study.Progress, study.Run, points),
	}.perform(figures{})
}
