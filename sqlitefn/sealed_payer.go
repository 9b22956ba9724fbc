package sqlitefn

import "github.com/geosql/geosql/budget"

// An evaluationPayer pays for an evaluation: for sealed values only, with the ledger's answers to questions, see
// [Evaluation.ask]. Other releases it refuses.
type evaluationPayer struct{ of *Evaluation }

func (evaluationPayer) pay(*statement, *function, []byte, budget.Price) (receipt, error) {
	return receipt{}, errOnlySealed
}

// payAll pays for a group without values: nothing.
func (p evaluationPayer) payAll(_ *statement, _ *function, b bill) (receipt, error) {
	if len(b.items) > 0 {
		return receipt{}, errOnlySealed
	}
	return p.of.receipt(), nil
}

func (evaluationPayer) payDisjoint(*statement, int, *function, bill) (receipt, error) {
	return receipt{}, errOnlySealed
}

func (evaluationPayer) payOnce(*function, string, budget.Price) (receipt, error) {
	return receipt{}, errOnlySealed
}

func (evaluationPayer) openTrace(*statement, *function, string, string, *traceTerms) (stepPayer, traceState, error) {
	return nil, nil, errOnlySealed
}
