package meters

import (
	"github.com/geosql/geosql/internal/study/parallel"
	"github.com/geosql/geosql/mechanism/scalar"
)

// A Study releases readings of meters. [New] returns one. It is not safe for concurrent use,
// and uses all processors.
type Study struct {
	parallel.Workers // Progress counts signatures, groups or meters, over all mechanisms

	settings Settings
	values   []mechanism // of single readings, one for each epsilon
	sums     []mechanism // of sums, one for each epsilon

	predictors []predictor // of traces, one for each eta and alpha
}

// New returns a study. Errors are about the settings.
func New(s Settings) (*Study, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	study := &Study{Workers: parallel.NewWorkers(), settings: s}
	var err error
	if study.values, err = s.mechanisms(scalar.Value); err != nil {
		return nil, err
	}
	if study.sums, err = s.mechanisms(scalar.Sum); err != nil {
		return nil, err
	}
	if study.predictors, err = s.predictors(); err != nil {
		return nil, err
	}
	return study, nil
}
