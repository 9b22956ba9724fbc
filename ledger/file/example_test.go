package file_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
)

// A ledger in memory gives ana a budget of 1 per metre. It charges her twice and refuses the
// third charge, for which she has not enough left.
func Example() {
	l, err := file.OpenMemory("")
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()

	if err := l.SetLimit("ana", "m", budget.One, 0); err != nil {
		log.Fatal(err)
	}
	const tenth = budget.One / 10
	for _, epsilon := range []budget.Amount{3 * tenth, 5 * tenth, 4 * tenth} {
		err := l.Charge("geoind_laplace", "m", []ledger.Item{{Account: "ana", Epsilon: epsilon, Evaluations: 1}})
		switch refusal, ok := errors.AsType[*ledger.RefusalError](err); {
		case ok:
			fmt.Println("refused:", refusal)
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println("charged", epsilon) // only now may anything be released
		}
	}

	balance, err := l.Balance("ana", "m")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("spent", balance.Spent, "of", balance.Limit, "and can spend", balance.Remaining())
	// Output:
	// charged 0.3
	// charged 0.5
	// refused: account 'ana' has 0.2/m left of 1.0/m, 0.4/m asked, 0.2/m short
	// spent 0.8 of 1 and can spend 0.2
}

// A statement charges each evaluation of a function. It reserves ahead, so that not every
// evaluation waits for the disk, and returns unused reservations when it ends.
func Example_statement() {
	l, err := file.OpenMemory("")
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	if err := l.SetLimit(ledger.Everyone, "m", 1000, 0); err != nil {
		log.Fatal(err)
	}

	statement := l.NewStatement()
	spender := statement.Spender("geoind_laplace", "m")
	for range 100 {
		if err := spender.Charge([]byte("ana"), 1); err != nil {
			log.Fatal(err)
		}
	}
	during, err := l.Balance("ana", "m")
	if err != nil {
		log.Fatal(err)
	}
	if err := statement.End(); err != nil {
		log.Fatal(err)
	}
	after, err := l.Balance("ana", "m")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("while it runs:", int64(during.Spent+during.Reserved), "spent or reserved")
	fmt.Println("afterwards:", int64(after.Spent), "spent,", int64(after.Reserved), "reserved")
	// Output:
	// while it runs: 128 spent or reserved
	// afterwards: 100 spent, 0 reserved
}
