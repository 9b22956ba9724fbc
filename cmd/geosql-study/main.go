// Command geosql-study repeats the experiments of the papers that geosql's mechanisms are
// from: it measures the mechanisms on recorded data, prints a table, and draws figures.
package main

import (
	"context"
	"flag"
	"os"

	_ "github.com/geosql/geosql/dataset/sqlite" // data sets that are tables of a database
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sqlitefn"
)

func main() { os.Exit(program.Main(os.Args[1:])) }

// A study measures mechanisms and prints a row for each configuration as soon as it is known.
type study interface {
	register(fs *flag.FlagSet)     // defines the flags and sets their defaults
	check() error                  // returns an error for flags that the study would not check
	run(ctx context.Context) error // runs the study as the flags say
}

// command returns the command that runs a study.
func command[S any, P interface {
	*S
	study
}](c cli.Command) *cli.Command {
	c.Setup = func(fs *flag.FlagSet) cli.Run {
		s := P(new(S))
		s.register(fs)
		return func(ctx context.Context, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			return s.run(ctx)
		}
	}
	return &c
}

var program = &cli.Program{
	Name:    "geosql-study",
	Summary: "the experiments of the papers, on recorded data",
	Noun:    "study",
	Version: "geosql-study " + sqlitefn.Version,
	Notes: `A study prints a table in csv, a row as soon as it is known, and with --out draws figures
(SVG; some show the truth). It charges nobody. Every input FILE is .csv, .tsv or .txt (may
be .gz), .parquet, or DB#TABLE of a database. 'geosql-study help NAME' has the flags of a
study.

Flags take one or two dashes and may stand anywhere; "--" ends them. The first error stops,
with one line on standard error. Exit status: 0; 1 after an error; 2 for wrong flags or
arguments; 130 after Ctrl-C.
`,
	Groups: []cli.Group{{Commands: []*cli.Command{
		command[accuracyStudy](cli.Command{
			Name: "accuracy", Operands: "--readings FILE --universe LO,HI,STEP ..",
			Summary: "how far answers over readings are from the truth, against textbook mechanisms",
			Details: `Prints the median of the absolute error, and the bound that 95 of 100 answers keep.`,
		}),
		command[adversaryStudy](cli.Command{
			Name: "adversary", Operands: "--places FILE --epsilon E ..",
			Summary: "the error of an adversary who knows a different prior than the mechanism",
			Details: `Compares the optimal mechanism, the one that is most private at its loss, and planar noise
of the same loss, for each user and each prior. The mechanisms are made for the weight.`,
		}),
		command[censusStudy](cli.Command{
			Name: "census", Operands: "--od FILE --places FILE ..",
			Summary: "the effect of noise on homes on the distances from home to work",
			Details: `Measures every level with every radius; without both flags those of the thesis's figure
5.13. Epsilon is the level/radius. The columns of LODES are known.`,
		}),
		command[cipStudy](cli.Command{
			Name: "cip", Operands: "[--points N | --times T,..] ..",
			Summary: "the information of a noisy trace if the dependence of its points is known",
			Details: `The noise has the variance sigma2. Each loss is shown with that of independent points
and with the difference of the secrets that attains it.`,
		}),
		command[heatmapStudy](cli.Command{
			Name: "heatmap", Operands: "--points FILE --domain SOUTH,WEST,NORTH,EAST ..",
			Summary: "how far heat maps, flat and adaptive, are from the truth",
			Details: `Prints the mean error of the number of locations in squares around random ones of them.`,
		}),
		command[lbsStudy](cli.Command{
			Name: "lbs", Operands: "--pois FILE .. | --part table|comparison|precision ..",
			Summary: "the cost of a location service for users who report a noisy place and fetch more rows",
			Details: `Epsilon is the level/radius, a level is a number or like ln4, lengths are in metres.
--part table computes the cost from the density of the rows alone, --part comparison compares
with cloaking, --part precision says how rounding would harm noise in polar coordinates.`,
		}),
		command[metersStudy](cli.Command{
			Name: "meters", Operands: "--readings FILE ..",
			Summary: "the information in released meter readings, and the accuracy of their sums",
			Details: `signatures: how often the window or the device of a release is recognised. totals: daily
and monthly sums, by device and over all.`,
		}),
		command[optimalStudy](cli.Command{
			Name: "optimal", Operands: "--places FILE --epsilon E ..",
			Summary: "the mechanism that loses least for weighted places, against planar and exponential noise",
			Details: `Lengths are in the unit, in the plane of a frame around the places, and epsilon is per
unit. A dilation above 1 saves constraints. With --user there are mechanisms for each user, at
a quarter, half, twice and four times epsilon too.`,
		}),
		command[pimStudy](cli.Command{
			Name: "pim", Operands: "--points FILE --domain SOUTH,WEST,NORTH,EAST ..",
			Summary: "the planar isotropic mechanism on recorded traces, against the Laplace mechanism",
			Details: `Several values of --epsilon and of --delta vary one at a time, from the first of both.`,
		}),
		command[predictiveStudy](cli.Command{
			Name: "predictive", Operands: "--points FILE ..",
			Summary: "the savings of the predictive mechanism on recorded traces, against independent noise",
			Details: `Lengths are in metres, speeds in km/h.`,
		}),
	}}},
}
