package unseal

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// An evaluationPayer pays for an evaluation: for sealed values only, with the ledger's answers to questions, see
// [Evaluation.ask]. Other releases it refuses.
type evaluationPayer struct{ of *Evaluation }

func (evaluationPayer) Pay(*frame.Statement, *frame.Function, []byte, budget.Price) (frame.Receipt, error) {
	return frame.Receipt{}, errOnlySealed
}

// PayAll pays for a group without values: nothing.
func (p evaluationPayer) PayAll(_ *frame.Statement, _ *frame.Function, b frame.Bill) (frame.Receipt, error) {
	if len(b.Items) > 0 {
		return frame.Receipt{}, errOnlySealed
	}
	return p.of.receipt(), nil
}

func (evaluationPayer) PayDisjoint(*frame.Statement, int, *frame.Function, frame.Bill) (frame.Receipt, error) {
	return frame.Receipt{}, errOnlySealed
}

func (evaluationPayer) PayOnce(*frame.Function, string, budget.Price) (frame.Receipt, error) {
	return frame.Receipt{}, errOnlySealed
}

func (evaluationPayer) OpenTrace(*frame.Statement, *frame.Function, string, string, *frame.TraceTerms) (frame.StepPayer, frame.Run, error) {
	return nil, nil, errOnlySealed
}
