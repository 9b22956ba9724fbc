package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/geosql/geosql/study/predictive"
)

// studyCommand measures the predictive mechanism on recorded traces and prints a
// row for each configuration as soon as it is known.
func studyCommand(ctx context.Context, inv *invocation) error {
	f := &inv.study
	r, err := record(ctx, f)
	if err != nil {
		return err
	}
	r.describe()
	study, err := predictive.New(r.domain, f.settings())
	if err != nil {
		return usageError("study: " + err.Error())
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o777); err != nil {
			return err
		}
	}
	rows, err := printStudy(ctx, study, r.tracks)
	if err != nil || f.out == "" {
		return err
	}
	return drawStudy(f.out, study, r.tracks, rows)
}

// settings are what the flags ask for. With -skip everything is measured without
// and with it.
func (f *studyFlags) settings() predictive.Settings {
	s := predictive.Settings{
		Epsilon: f.epsilon, Managers: f.managers, Steps: f.steps, Alpha: f.alpha, SkipSpeeds: []float64{0},
		Predictors: f.predictors, Jumps: f.jumps, Repeat: f.repeat,
	}
	if f.skip {
		speed := cmp.Or(f.skipSpeed, defaultSkipSpeed)
		s.SkipSpeeds = append(s.SkipSpeeds, speed*metresPerKilometre/secondsPerHour)
	}
	return s
}

const (
	metresPerKilometre = 1000
	secondsPerHour     = 3600
)

// describe says on a terminal what was read.
func (r *recording) describe() {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprintf(os.Stderr, "%d traces, %d fixes; left out: %d outside the domain, %d at the time of another\n",
			len(r.tracks), r.fixes, r.outside, r.repeated)
	}
}

// studyHead names the columns of studyRow.
const studyHead = "manager,skip,predictor,jump,traces,points,prediction_rate,skipped,test_share," +
	"avg_error_m,p90_error_m,rate_percent,im_avg_error_m,im_p90_error_m,im_rate_percent,max_spent_share"

// studyRow is a row of the output. The skip speed is in km/h.
func studyRow(r predictive.Row) string {
	p, im := r.Predictive, r.Independent
	return strings.Join([]string{
		r.Manager, rounded(r.SkipSpeed*secondsPerHour/metresPerKilometre, 3), r.Predictor, rounded(r.Jump, 6),
		strconv.Itoa(p.Runs), strconv.Itoa(p.Points),
		decimal(p.PredictionRate, 4), decimal(p.Skipped, 4), decimal(p.TestShare, 4),
		decimal(p.AverageError, 1), decimal(p.P90Error, 1), decimal(100*p.Rate, 3),
		decimal(im.AverageError, 1), decimal(im.P90Error, 1), decimal(100*im.Rate, 3),
		decimal(max(p.MaxSpentShare, im.MaxSpentShare), 6),
	}, ",")
}

// decimal prints a measurement, and nothing where there was nothing to measure.
func decimal(x float64, decimals int) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// rounded prints a setting with as many decimals as it needs.
func rounded(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// printStudy runs a study and prints its rows, each complete.
func printStudy(ctx context.Context, study *predictive.Study, tracks []predictive.Track) (rows []predictive.Row, err error) {
	line := newTerminalLine()
	study.Progress = func(done, total int) {
		line.show("measuring: %.1f %%", 100*float64(done)/float64(total))
	}
	out := bufio.NewWriter(os.Stdout)
	put := func(text string) error {
		line.clear()
		out.WriteString(text + "\n")
		return out.Flush()
	}
	if err := put(studyHead); err != nil {
		return nil, err
	}
	err = study.Run(ctx, tracks, func(r predictive.Row) error {
		rows = append(rows, r)
		return put(studyRow(r))
	})
	line.clear()
	return rows, err
}
