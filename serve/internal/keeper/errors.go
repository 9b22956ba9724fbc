package keeper

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// A shownError is an error as a client sees it, and its cause.
type shownError struct {
	shown *wire.Error
	cause error
}

func (e *shownError) Error() string   { return e.shown.Message }
func (e *shownError) Unwrap() []error { return []error{e.shown, e.cause} }

// shown returns an evaluator's error as the client sees it: without the names of accounts, and without details for the
// owner only, which are logged.
func (k *Keeper) shown(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*ledger.RefusalError](err); ok {
		return k.refusal(e)
	}
	if e, ok := errors.AsType[*ledger.AlreadyChargedError](err); ok {
		return &wire.Error{Code: "53400", Message: "an account has been charged before",
			Detail: fmt.Sprintf("Account %s was charged in unit %s, where releases do not add up: there is one at the most. Nobody was charged.",
				k.nameOf(e.Account), e.Unit)}
	}
	if e, ok := errors.AsType[*sqlitefn.PermissionError](err); ok {
		return &shownError{&wire.Error{Code: "42501", Message: err.Error()}, e}
	}
	if e, ok := errors.AsType[*sqlitefn.OverQuoteError](err); ok {
		// That is no refusal: the statement is given up until its user agrees to the cost.
		return &shownError{&wire.Error{Code: "57014", Message: e.Error(), Hint: "Ask for the cost again. Nobody was charged for this answer."}, e}
	}
	if errors.Is(err, sealed.ErrValue) || !isInternal(err) {
		return &wire.Error{Code: "22023", Message: err.Error()}
	}
	k.complaints.say(k.log, err)
	switch {
	case IsFull(err):
		return errFull
	case errors.Is(err, ledger.ErrLost):
		return errLost
	case errors.Is(err, ledger.ErrLossAccepted):
		return errLossAccepted
	case errors.Is(err, ledger.ErrInDoubt):
		return errInDoubt
	case errors.Is(err, ledger.ErrUnreachable):
		return errUnreachable
	}
	return errInternal
}

// Errors of a ledger that nobody can charge now.
var (
	errFull = &wire.Error{Code: "53100", Message: "a disk of the server is full",
		Hint: "Once the owner has made room, ask again: nothing is charged twice."}
	errUnreachable = &wire.Error{Code: "57P03", Message: "the ledger cannot be reached", Detail: "Nobody was charged for this answer.",
		Hint: "Ask again later. Answers that were charged before are remembered."}
	errInDoubt = &wire.Error{Code: "08007", Message: "it is not known whether the answer is charged",
		Detail: "The ledger could not be reached while it stored the charge.", Hint: askAgain}
	errLost = &wire.Error{Code: "LG001", Message: "the ledger has lost charges", Detail: "Nobody is charged before its owner has looked after that.",
		Hint: "The owner restores a newer copy, or accepts the loss with geosql ledger accept."}
	errLossAccepted = &wire.Error{Code: "40001", Message: "the ledger was opened anew, since its owner has accepted a loss", Hint: "Ask again."}
)

const askAgain = "Ask again: an answer that was charged is given again, and nobody pays twice."

// errWaited returns the error of a statement that was canceled while it waited for the ledger.
func errWaited(canceled error) error {
	e, ok := errors.AsType[*wire.Error](canceled)
	if !ok {
		return canceled
	}
	waited := *e
	waited.Detail, waited.Hint = "The ledger has not answered in time.", askAgain
	return &waited
}

// complaintInterval is how often the log has the same error of an evaluation at most.
const complaintInterval = time.Minute

// complaints are errors of evaluations that the log has already.
type complaints struct {
	mu   sync.Mutex
	last string
	at   time.Time
	more int // how often it came since
}

// say writes an error to the log, unless it has the same error already.
func (c *complaints) say(log *slog.Logger, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text := err.Error(); text != c.last || time.Since(c.at) >= complaintInterval {
		log.Error("an evaluation failed", "error", err, "more_like_the_last", c.more)
		c.last, c.at, c.more = text, time.Now(), 0
		return
	}
	c.more++
}

// IsFull reports whether the disk of the ledger, or of temporary files, is full.
func IsFull(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Full()
	}
	e, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err) // of PostgreSQL
	return errors.Is(err, syscall.ENOSPC) || ok && e.SQLState() == errFull.Code
}

// isInternal reports whether an error is about the server's files or a bug, not about arguments: those errors follow from
// the question and from public facts.
func isInternal(err error) bool {
	if _, ok := errors.AsType[*sqlite.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return true
	}
	if _, ok := errors.AsType[declaration.TableError](err); ok {
		return true
	}
	text := err.Error()
	return strings.Contains(text, "ledger") || strings.Contains(text, "geosql internal error")
}

// nameOf returns the analysts' name for an account.
func (k *Keeper) nameOf(account string) string {
	switch all := k.pseudonyms(account); len(all) {
	case 0:
		return "without a pseudonym"
	case 1:
		return all[0]
	default:
		return fmt.Sprintf("%s (also %s)", all[0], strings.Join(all[1:min(len(all), 4)], ", "))
	}
}

// refusal returns a refusal as the client sees it.
func (k *Keeper) refusal(r *ledger.RefusalError) *wire.Error {
	e := &wire.Error{Code: "53400"}
	per := func(a budget.Amount) string { return a.String() + "/" + string(r.Unit) }
	account := k.nameOf(r.Account)
	if !r.Limited {
		e.Message = "an account has no budget"
		e.Detail = fmt.Sprintf("Account %s has no budget in unit %s; %s is asked. Nobody was charged.", account, r.Unit, per(r.Asked))
		e.Hint = "The owner of the database sets budgets."
		return e
	}
	e.Message = "an account has too little of its budget left"
	whose := "Account " + account
	if r.Role != "" {
		e.Message = "the role has too little of its budget left for an account"
		whose = fmt.Sprintf("Role %s has, for account %s,", r.Role, account)
	} else {
		whose += " has"
	}
	e.Detail = fmt.Sprintf("%s %s left of %s; %s is asked. Nobody was charged.", whose, per(r.Left), per(r.Limit), per(r.Asked))
	switch {
	case r.Asked > r.Limit && r.Unit == budget.Record:
		e.Hint = "No account may pay as much: ask with a smaller epsilon, or about one row of each account, FROM (SELECT column FROM table GROUP BY account)."
	case r.Asked > r.Limit:
		e.Hint = "No account may pay as much: ask with a smaller epsilon."
	case r.Window != 0 && !r.Reopens.IsZero():
		e.Hint = fmt.Sprintf("Ask with a smaller epsilon, or after %s, when the budget opens again.", r.Reopens.UTC().Format(time.RFC3339))
	case r.Left > 0:
		e.Hint = "Ask with a smaller epsilon, or without the account. The owner can let answers leave such accounts out."
	default:
		e.Hint = "Ask without the account. The owner can let answers leave such accounts out."
	}
	return e
}
