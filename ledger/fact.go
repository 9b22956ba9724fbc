package ledger

import "errors"

// A Fact is something that a ledger remembers for ever beside its charges, because later
// answers depend on it: which accounts were erased, say. The ledger does not know its
// meaning. Facts are not in the chain of entries.
type Fact struct {
	ID   int64  // grows from fact to fact; given by the ledger
	Kind string // not empty
	Text string
}

// CheckFacts returns an error for facts that cannot be recorded.
func CheckFacts(facts []Fact) error {
	for _, f := range facts {
		if f.Kind == "" {
			return errors.New("ledger: a fact has no kind")
		}
	}
	return nil
}
