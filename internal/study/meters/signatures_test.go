package meters

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
)

// signaturesOf runs that part of a study.
func signaturesOf(t *testing.T, s *Study, meters ...Meter) (rows []SignatureRow) {
	t.Helper()
	if err := s.Signatures(t.Context(), meters, func(r SignatureRow) error {
		rows = append(rows, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return rows
}

// enumerated returns the expectations of a row, release by release, for signatures of
// two reports in 0..last at an epsilon per step.
func enumerated(known library, epsilon float64, last int) (r SignatureRow) {
	n := float64(len(known))
	for own, s := range known {
		first, second := law(epsilon, int(s.indices[0]), last), law(epsilon, int(s.indices[1]), last)
		for i, p := range first {
			r.Errors.Mean += p * math.Abs(float64(i)-float64(s.indices[0])) / (2 * n)
			r.Errors.Mean += second[i] * math.Abs(float64(i)-float64(s.indices[1])) / (2 * n)
			for j, q := range second {
				x := naiveRecognition(known, []int64{int64(i), int64(j)}, own)
				r.Window += p * q * x.window / n
				r.Device += p * q * x.device / n
				r.Unseen += p * q * x.unseen / n
			}
		}
	}
	return r
}

// checkRow compares a row with its expectations. Each of its four means is over
// independent numbers of known range: shares over releases, and errors, at most last,
// over two readings each. By Hoeffding it fails with probability 4e-8.
func checkRow(got, want SignatureRow, last float64, releases int) error {
	for _, c := range []struct {
		name      string
		got, want float64
		tolerance float64
	}{
		{"mean error", got.Errors.Mean, want.Errors.Mean, hoeffding(last, 2*releases)},
		{"window", got.Window, want.Window, hoeffding(1, releases)},
		{"device", got.Device, want.Device, hoeffding(1, releases)},
		{"unseen", got.Unseen, want.Unseen, hoeffding(1, releases)},
	} {
		if math.Abs(c.got-c.want) > c.tolerance {
			return fmt.Errorf("%s %v, not %v within %v", c.name, c.got, c.want, c.tolerance)
		}
	}
	return nil
}

// programmes are of two devices: (4,3) and (4,0), which hugs the ends, and (1,2).
func programmes() []Meter { return []Meter{meter("a", 4, 3, 4, 0), meter("b", 1, 2)} }

// Rows of 60,000 releases are those of the enumeration, and no others: an epsilon a
// tenth too large, or noise that all of a signature shares, shows.
func TestSignatureRows(t *testing.T) {
	const last, repeat = 4, 20_000
	epsilons := []float64{0.25, 0.7, 2}
	settings := brief(t, epsilons...)
	settings.Repeat = repeat
	study := newStudy(t, settings)
	known := library(study.signatures(programmes()))
	done, total := 0, 0
	study.Progress = func(d, of int) { done, total = d, of }
	rows := signaturesOf(t, study, programmes()...)
	if len(rows) != 4 || done != 12 || total != 12 {
		t.Fatalf("%d rows, %d of %d done", len(rows), done, total)
	}
	for k, epsilon := range epsilons {
		r := rows[k+1]
		want := enumerated(known, epsilon, last)
		if err := checkRow(r, want, last, 3*repeat); err != nil {
			t.Errorf("epsilon %v: %v", epsilon, err)
		}
		if r.Epsilon != epsilon || r.TupleEpsilon() != 2*epsilon || r.Devices != 2 || r.Signatures != 3 || r.Samples != 2 {
			t.Errorf("%+v", r)
		}
		if err := checkRow(r, enumerated(known, 1.1*epsilon, last), last, 3*repeat); err == nil {
			t.Errorf("epsilon %v passes for %v", epsilon, 1.1*epsilon)
		}
		var all released
		for own := range known {
			for range repeat {
				all.add(shared(study.values[k].query, study.Sources[0], settings.Universe, known, own))
			}
		}
		if err := checkRow(study.signatureRow(known, all, study.values[k]), want, last, 3*repeat); err == nil {
			t.Errorf("epsilon %v: noise that is shared passes", epsilon)
		}
	}
}

// shared is a deliberately wrong release: both readings move alike.
func shared(q *scalar.Query, src *exact.Source, u *scalar.Universe, known library, own int) released {
	truth := known[own].indices
	var value [1]float64
	releaseEach(value[:], q, src, u, truth[:1])
	moved := u.Index(value[0]) - truth[0]
	report := []int64{truth[0] + moved, min(max(truth[1]+moved, 0), u.Last())}
	return released{
		[]recognition{known.recognise(report, own)},
		[]float64{math.Abs(float64(moved)), math.Abs(float64(report[1] - truth[1]))},
	}
}

func TestTrueSignatures(t *testing.T) {
	r := signaturesOf(t, newStudy(t, brief(t, 1)), programmes()...)[0]
	// Without itself, (4,3) is nearest to (4,0), that to (4,3), and (1,2) is at 4 from
	// (4,3) and at 5 from (4,0).
	if want := (SignatureRow{Devices: 2, Signatures: 3, Samples: 2, Errors: r.Errors, Window: 1, Device: 1, Unseen: 2. / 3}); !near(r, want) {
		t.Errorf("%+v, not %+v", r, want)
	}
	if !math.IsNaN(r.Windows.Low) || !math.IsNaN(r.UnseenShares.High) {
		t.Errorf("the true signatures spread: %+v", r)
	}
}

// near forgives the sums of shares their rounding.
func near(a, b SignatureRow) bool {
	same := math.Abs(a.Window-b.Window)+math.Abs(a.Device-b.Device)+math.Abs(a.Unseen-b.Unseen) < 1e-12
	a.Window, a.Device, a.Unseen = b.Window, b.Device, b.Unseen
	a.Windows, a.DeviceShares, a.UnseenShares = b.Windows, b.DeviceShares, b.UnseenShares
	return same && a == b
}

// Without noise worth the name nothing moves, and every signature is recognised.
func TestSignaturesWithoutNoise(t *testing.T) {
	s := brief(t, 1000)
	r := signaturesOf(t, newStudy(t, s), programmes()...)[1]
	if r.Errors != (Errors{Within: 1}) || math.Abs(r.Window-1) > 1e-12 {
		t.Errorf("%+v", r)
	}
}

func TestSignaturesOfTooLittle(t *testing.T) {
	for _, m := range [][]Meter{nil, {meter("a", 0, 1)}, {meter("a", 1, 1), meter("b", 2, 2)}} {
		err := newStudy(t, brief(t, 1)).Signatures(t.Context(), m, func(SignatureRow) error { return nil })
		if !errors.Is(err, errNoSignatures) {
			t.Errorf("error %v", err)
		}
	}
}

func TestEndsEarly(t *testing.T) {
	study := newStudy(t, brief(t, 1, 2, 3))
	enough := errors.New("enough")
	signatures := func(ctx context.Context, row func() error) error {
		return study.Signatures(ctx, programmes(), func(SignatureRow) error { return row() })
	}
	totals := func(ctx context.Context, row func() error) error {
		return study.Totals(ctx, programmes(), func(TotalRow) error { return row() })
	}
	for name, run := range map[string]func(context.Context, func() error) error{"signatures": signatures, "totals": totals} {
		for stop := 1; stop <= 3; stop++ {
			rows := 0
			ctx, cancel := context.WithCancelCause(t.Context())
			if err := run(ctx, func() error {
				if rows++; rows == stop {
					cancel(enough)
				}
				return nil
			}); err != enough || rows != stop {
				t.Errorf("%s: %v after %d rows", name, err, rows)
			}
			rows = 0
			if err := run(t.Context(), func() error {
				if rows++; rows == stop {
					return enough
				}
				return nil
			}); err != enough || rows != stop {
				t.Errorf("%s: %v after %d rows", name, err, rows)
			}
		}
	}
}

// The quartiles are those of the repetitions, each over all signatures.
func TestSignatureSpread(t *testing.T) {
	s := newStudy(t, brief(t, 1))
	known := library(s.signatures(programmes()))
	var all released
	for k := range known {
		one := released{errors: []float64{0}}
		for repetition := range 4 {
			one.recognised = append(one.recognised, recognition{window: float64(min(repetition, 3)), device: 1, unseen: float64(2 * k)})
		}
		all.add(one)
	}
	r := s.signatureRow(known, all, s.values[0])
	want := SignatureRow{
		Windows: stats.Quartiles{Low: 0, High: 2}, DeviceShares: stats.Quartiles{Low: 1, High: 1}, UnseenShares: stats.Quartiles{Low: 2, High: 2},
	}
	if r.Window != 1.5 || r.Device != 1 || r.Windows != want.Windows || r.DeviceShares != want.DeviceShares || r.UnseenShares != want.UnseenShares {
		t.Errorf("%+v", r)
	}
}
