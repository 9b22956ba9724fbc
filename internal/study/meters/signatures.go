package meters

import (
	"context"
	"errors"

	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
)

// A SignatureRow holds the results about signatures at one epsilon.
type SignatureRow struct {
	Epsilon    float64 // of every reading; 0 for the true signatures
	Devices    int     // with signatures
	Signatures int
	Samples    int    // readings in each
	Errors     Errors // of the readings; zero without an epsilon

	Window float64 // share of the releases with the signature recognised
	Device float64 // share of the releases with the device recognised
	Unseen float64 // the same, with a library that lacks the signature itself

	// The same shares in single repetitions; of the true signatures, NaN.
	Windows, DeviceShares, UnseenShares stats.Quartiles
}

// TupleEpsilon returns the cost of a signature's release under the maximum metric.
func (r SignatureRow) TupleEpsilon() float64 { return float64(r.Samples) * r.Epsilon }

var errNoSignatures = errors.New("fewer than two windows are complete and vary by a twentieth of the universe")

// Signatures releases the signatures of the meters. It calls row first for the true
// signatures, then for the releases, in the order of the epsilons. It ends early with the
// cause of ctx, or with the error of row.
func (s *Study) Signatures(ctx context.Context, meters []Meter, row func(SignatureRow) error) error {
	known := library(s.signatures(meters))
	if len(known) < 2 {
		return errNoSignatures
	}
	s.Begin(len(known) * (1 + len(s.values)))
	truth, err := s.recognised(ctx, known, func(_ *exact.Source, k int) released {
		return released{[]recognition{known.recognise(known[k].indices, k)}, []float64{0}}
	})
	if err != nil {
		return err
	}
	if err := row(s.signatureRow(known, truth, mechanism{})); err != nil {
		return err
	}
	for _, m := range s.values {
		all, err := s.recognised(ctx, known, func(src *exact.Source, k int) released {
			return s.releaseSignature(m.query, src, known, k)
		})
		if err != nil {
			return err
		}
		if err := row(s.signatureRow(known, all, m)); err != nil {
			return err
		}
	}
	return nil
}

// released holds the results of one signature, or of all.
type released struct {
	recognised []recognition // by repetition, summed over the signatures
	errors     []float64     // of every reading of every release
}

func (r *released) add(o released) {
	if r.recognised == nil {
		r.recognised = make([]recognition, len(o.recognised))
	}
	for k, x := range o.recognised {
		r.recognised[k].add(x)
	}
	r.errors = append(r.errors, o.errors...)
}

// recognised returns the sum of the results of each signature.
func (s *Study) recognised(ctx context.Context, known library, release func(src *exact.Source, k int) released) (all released, err error) {
	parts := make([]released, len(known))
	if err := s.Each(ctx, len(known), func(worker, k int) error {
		parts[k] = release(s.Sources[worker], k)
		return nil
	}); err != nil {
		return released{}, err
	}
	for _, p := range parts { // in the order of the signatures, not of the workers
		all.add(p)
	}
	return all, nil
}

// releaseSignature releases one of the signatures repeatedly.
func (s *Study) releaseSignature(q *scalar.Query, src *exact.Source, known library, own int) released {
	u, truth, repeat := s.settings.Universe, known[own].indices, s.settings.Repeat
	values, report := make([]float64, len(truth)), make([]int64, len(truth))
	r := released{errors: make([]float64, 0, repeat*len(truth))}
	for range repeat {
		releaseEach(values, q, src, u, truth)
		for k, x := range values {
			report[k] = u.Index(x)
			r.errors = append(r.errors, distance(x, u.Value(truth[k])))
		}
		r.recognised = append(r.recognised, known.recognise(report, own))
	}
	return r
}

// releaseEach releases the values of some indices with independent noise. It is n*epsilon
// private under the maximum metric: no reading is further from its counterpart than that
// distance, and the losses of the n readings add up.
func releaseEach(values []float64, q *scalar.Query, src *exact.Source, u *scalar.Universe, indices []int64) {
	var a scalar.Accumulator
	for k, index := range indices {
		q.Reset(&a)
		q.Add(&a, u.Value(index))
		values[k] = q.Draw(src, &a)
	}
}

// signatureRow returns the row of the results of all signatures.
func (s *Study) signatureRow(known library, all released, m mechanism) SignatureRow {
	devices := map[int]bool{}
	for _, x := range known {
		devices[x.meter] = true
	}
	var sum recognition
	var windows, deviceShares, unseen []float64
	n := float64(len(known))
	for _, x := range all.recognised {
		sum.add(x)
		windows, deviceShares, unseen = append(windows, x.window/n), append(deviceShares, x.device/n), append(unseen, x.unseen/n)
	}
	if m.query == nil { // nothing was drawn
		windows, deviceShares, unseen = nil, nil, nil
	}
	n *= float64(len(all.recognised))
	return SignatureRow{
		Epsilon: m.epsilon, Devices: len(devices), Signatures: len(known), Samples: s.settings.samples(),
		Errors: newErrors(all.errors, m.radius),
		Window: sum.window / n, Device: sum.device / n, Unseen: sum.unseen / n,
		Windows: stats.NewQuartiles(windows), DeviceShares: stats.NewQuartiles(deviceShares), UnseenShares: stats.NewQuartiles(unseen),
	}
}
