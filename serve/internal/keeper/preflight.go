package keeper

import (
	"context"
	"errors"
	"time"

	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/wire"
)

// anyway tells how a statement runs that a preflight refuses.
const anyway = "SET geosql.preflight = off runs it as far as the budgets reach."

var errUncertain = &wire.Error{Code: "53400", Message: "the statement might cost more than is left",
	Detail: "Its answers decide its further questions. Nobody was charged.",
	Hint:   "Ask for the answers that decide first, and write them into the next statement. " + anyway}

// preflight returns the error of a statement that might be refused when some of its answers are paid already, and otherwise the calls that
// it will make. A single question is refused as a whole, so that a quote is made of several only.
func (st *Statement) preflight(ctx context.Context, args []any) (foretelling, error) {
	s := st.session
	if !st.questions.Several || s.noPreflight {
		return foretelling{}, nil
	}
	began := time.Now()
	r, err := st.quote(ctx, args)
	if err != nil {
		err = ofWhole(err)
		s.observe(monitor.Statement{Began: began, SQL: st.sql}, err)
		return foretelling{}, err
	}
	return r.foretold, nil
}

// ofWhole returns an error of a quote as that of the whole statement.
func ofWhole(err error) error {
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || e.Code != errUncertain.Code || e == errUncertain {
		return err
	}
	whole := *e
	whole.Hint += " The statement asks for that with all of its answers: answers about the same rows add up, groups without a common row cost once under d1. " +
		anyway
	return &whole
}
