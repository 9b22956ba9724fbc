package meters

import (
	"context"
	"runtime"

	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/study/parallel"
)

// A Study releases readings of meters. It is made by [New], and not safe for concurrent
// use. It uses all processors.
type Study struct {
	// Progress, unless nil, is told again and again how much is done.
	Progress func(done, total int)

	settings    Settings
	values      []mechanism     // of single readings, one for each epsilon
	sums        []mechanism     // the same of sums
	sources     []*exact.Source // one for each worker
	done, total int             // signatures or groups, over all epsilons
}

// New returns a study. Errors are about the settings.
func New(s Settings) (*Study, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	study := &Study{settings: s}
	var err error
	if study.values, err = s.mechanisms(scalar.Value); err != nil {
		return nil, err
	}
	if study.sums, err = s.mechanisms(scalar.Sum); err != nil {
		return nil, err
	}
	for range runtime.GOMAXPROCS(0) {
		study.sources = append(study.sources, exact.NewSource(nil))
	}
	return study, nil
}

// each shares out n signatures or groups among the workers.
func (s *Study) each(ctx context.Context, n int, do func(src *exact.Source, k int)) error {
	return parallel.Each(ctx, len(s.sources), n, func(worker, k int) { do(s.sources[worker], k) }, s.advance)
}

// advance counts a signature or group as measured.
func (s *Study) advance() {
	s.done++
	if s.Progress != nil {
		s.Progress(s.done, s.total)
	}
}
