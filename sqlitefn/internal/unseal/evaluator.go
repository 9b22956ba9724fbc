package unseal

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math/bits"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// An Analyst describes an analyst that an [Evaluator] answers, and the rights of that analyst. The functions are called while a
// statement runs.
type Analyst struct {
	Context   context.Context // once it is done the statement waits for the ledger no more
	Role      string
	MayAsk    func(catalog.ColumnName) bool                   // about a sealed column
	Largest   func(budget.Unit) (most budget.Amount, ok bool) // that a call may cost an account; ok is false if it has no bound of its own
	Budget    func(budget.Unit) (budget.Amount, bool)         // of each account, for all answers; false if the unit may not be spent
	Least     func(budget.Unit) budget.Amount                 // that an answer may cost an account for a row
	MaxRepeat int                                             // see WithMaxRepeat
	LeaveOut  bool                                            // whether accounts that cannot pay are left out

	// Memory is asked before a statement takes so many bytes, unless it is nil: an error is the statement's, which does not take
	// them then. A number below 0 gives bytes back.
	Memory func(bytes int64) error

	// MayDraw returns an error if the analyst may make no new answer behind so many more, and Drew is told how many bytes each one
	// has. Until an answer is charged its size is as secret as the answer, so MayDraw goes by earlier ones. Without a bound both are nil.
	MayDraw func(behind int) error
	Drew    func(bytes int)
}

// An Evaluator evaluates functions over sealed values for analysts who have neither the key nor the ledger, and
// with statements that run elsewhere: see [Remote]. It believes nothing that it is told about the values but their bytes.
// It checks the analyst's rights, charges, draws and remembers answers: see [ledger.Question]. It is used by one
// goroutine at a time.
//
// # Privacy
//
// The caller chooses the values, how often and in which groups they come, and the settings: all of that is the
// analyst's, who could write any statement. The price of an answer follows from the values that were opened, their
// identities and the settings, and is charged to the accounts in the values before the answer is drawn. So a caller that lies
// about its statement asks another question, and pays for that.
type Evaluator struct {
	session *frame.Session
	key     questionKey
	scalars map[arity]*frame.Bound
	groups  map[arity]*frame.Function
}

// An arity is a function with a number of arguments.
type arity struct {
	name string
	args int
}

// NewEvaluator returns an evaluator on a connection with a key. A hash that key keys names questions.
func NewEvaluator(s *frame.Session, key [32]byte) *Evaluator {
	e := &Evaluator{session: s, key: newQuestionKey(key), scalars: map[arity]*frame.Bound{}, groups: map[arity]*frame.Function{}}
	for _, f := range s.Table {
		if !takesSealed(f) {
			continue
		}
		for _, n := range f.Arities() {
			if f.Aggregate != nil {
				e.groups[arity{f.Name, n}] = f
			} else if f.Answer != nil {
				e.scalars[arity{f.Name, n}] = f.Bind(s)
			}
		}
	}
	return e
}

// takesSealed reports whether the function takes a sealed value.
func takesSealed(f *frame.Function) bool {
	return len(f.Args) > 0 && f.Args[0].Kind.Sealed
}

// Begin begins the evaluation of a statement for an analyst. An earlier one must have ended. If quote is set, nothing is charged
// or drawn: answers are stand-ins, and the report has the costs that they would have.
func (e *Evaluator) Begin(a Analyst, quote bool) *Evaluation {
	t := e.session.NewStatement()
	statements.Of(t).memory.ask = a.Memory
	return &Evaluation{evaluator: e, analyst: a, quote: quote, key: e.key, statement: t, places: map[int]bool{}}
}

// An Evaluation evaluates the functions of one statement. Under d1 its groups together cost an account as much as its
// dearest value.
type Evaluation struct {
	evaluator *Evaluator
	analyst   Analyst
	quote     bool
	limit     *Report // that costs must not exceed, or nil
	recall    bool    // see Recall
	key       questionKey
	statement *frame.Statement
	granted   *catalog.Column // the last column that the analyst may ask about
	places    map[int]bool    // in which groups are open
	put       []scalarCall
	asked     asked
	err       error // of the first call that failed
}

var errOnlySealed = errors.New("must be a sealed value")

// Put takes a call of a scalar function, for [Evaluation.Answers].
func (e *Evaluation) Put(function string, args []sqlite.Value) error {
	b := e.evaluator.scalars[arity{function, len(args)}]
	if b == nil {
		return e.fail(fmt.Errorf("no such function: %s", function))
	}
	e.put = append(e.put, scalarCall{name: b.Name})
	_, err := e.run(b.Name, func() (frame.Answer, error) { return b.AnswerFor(e.statement, args) })
	return err
}

// run runs a call of a function, for which the evaluation pays. After an error all others fail.
func (e *Evaluation) run(function string, do func() (frame.Answer, error)) (frame.Released, error) {
	if e.err != nil {
		return nil, e.err
	}
	var a frame.Answer
	err := e.paying(func() (err error) {
		a, err = do()
		return err
	})
	if err != nil {
		return nil, e.fail(fmt.Errorf("%s: %w", function, err))
	}
	return a.Encode(), nil
}

func (e *Evaluation) fail(err error) error {
	if e.err == nil {
		e.err = err
	}
	return e.err
}

// paying does something for which the evaluation pays.
func (e *Evaluation) paying(do func() error) error {
	s := e.evaluator.session
	s.SetPayer(evaluationPayer{e})
	defer s.SetPayer(nil)
	return do()
}

// evaluationOf returns the evaluation that pays for the calls of a session now, or nil.
func evaluationOf(s *frame.Session) *Evaluation {
	p, _ := s.CurrentPayer().(evaluationPayer)
	return p.of
}

// Group begins a group of an aggregate with so many arguments. Several groups may be open at a time.
func (e *Evaluation) Group(function string, args int) (*EvaluatedGroup, error) {
	if e.err != nil {
		return nil, e.err
	}
	f := e.evaluator.groups[arity{function, args}]
	if f == nil {
		return nil, e.fail(fmt.Errorf("no such function: %s", function))
	}
	place := 0
	for e.places[place] { // two open groups never have the same: see repeats
		place++
	}
	e.places[place] = true
	s := e.evaluator.session
	return &EvaluatedGroup{evaluation: e, group: f.Open(s), place: place, call: sqlite.NewCall(nil, e.statement, place)}, nil
}

// An EvaluatedGroup is a group of an aggregate.
type EvaluatedGroup struct {
	group      *frame.BoundGroup
	evaluation *Evaluation
	place      int
	call       *sqlite.Call
}

// Step adds a row.
func (g *EvaluatedGroup) Step(args []sqlite.Value) error {
	e := g.evaluation
	if e.err != nil {
		return e.err
	}
	if a := g.group.Args[0]; a != ArgSealed && len(args) > 0 && args[0].Type() != sqlite.Blob && args[0].Type() != sqlite.Null {
		return e.fail(fmt.Errorf("%s: %s %w", g.group.Name, a.Name, errOnlySealed))
	}
	g.call.SetArgs(args)
	if err := e.paying(func() error { return g.group.Step(g.call) }); err != nil {
		return e.fail(err)
	}
	return nil
}

// Final checks, charges and answers the group. After an error of any of its rows, or of another call of the
// evaluation, it returns that error and charges nobody.
func (g *EvaluatedGroup) Final() (frame.Released, error) {
	defer g.Drop()
	g.call.SetArgs(nil)
	return g.evaluation.run(g.group.Name, func() (frame.Answer, error) { return g.group.Answer(g.call) })
}

// Drop ends a group that is not to be answered. It charges nobody.
func (g *EvaluatedGroup) Drop() {
	delete(g.evaluation.places, g.place)
	g.group.Release()
}

// Limit lets calls fail, before they charge, that would make the costs of the evaluation exceed those of an earlier
// report, as of a quote.
func (e *Evaluation) Limit(quoted Report) { e.limit = &quoted }

// Recall lets groups have only answers that the analyst has seen before, which cost nothing, or lets them have all again. A group that would
// have another answer fails, and charges nobody.
func (e *Evaluation) Recall(only bool) { e.recall = only }

// Report returns the questions and charges of the evaluation so far.
func (e *Evaluation) Report() Report { return e.asked.report() }

// Err returns the error of the first call that failed, or nil.
func (e *Evaluation) Err() error { return e.err }

// End ends the evaluation and frees its memory. It charges nobody.
func (e *Evaluation) End() {
	e.fail(errEnded)
	e.statement.End()
}

var errEnded = errors.New("the statement has ended")

// mayAsk checks that the analyst may ask about a column.
func (e *Evaluation) mayAsk(c *catalog.Column) error {
	if c == e.granted {
		return nil
	}
	if !e.analyst.MayAsk(c.FullName()) {
		return &PermissionError{fmt.Sprintf("role %s may not ask about %v", e.analyst.Role, c.FullName())}
	}
	e.granted = c
	e.asked.column(c.FullName().String())
	return nil
}

// admit checks whether an answer may cost an account a price so many times.
func (e *Evaluation) admit(price budget.Price, times int64) error {
	if _, spends := e.analyst.Budget(price.Unit); !spends {
		return &PermissionError{fmt.Sprintf("role %s has no budget per %s", e.analyst.Role, price.Unit)}
	}
	if least := e.analyst.Least(price.Unit); price.Amount < least {
		return &PermissionError{fmt.Sprintf("epsilon %s is below %v, the least that role %s may ask with per %s", price.Amount, least, e.analyst.Role, price.Unit)}
	}
	most, bound := e.analyst.Largest(price.Unit)
	if cost, ok := price.Amount.Times(times); !bound || ok && cost <= most {
		return nil
	}
	asked := price.Amount.String()
	if times > 1 {
		asked = fmt.Sprintf("%s, %d times for an account,", asked, times)
	}
	reason := fmt.Sprintf("epsilon %s is above %v, the most that role %s may spend per %s in a call", asked, most, e.analyst.Role, price.Unit)
	if times > 1 && price.Unit == budget.Record {
		reason += "; one record of each account costs epsilon once: " + PersonName + "(column, lo, hi), or FROM (SELECT column FROM table GROUP BY account)"
	}
	return &PermissionError{reason}
}

// A PermissionError says that an analyst may not ask something, whatever budgets say.
type PermissionError struct{ Reason string }

func (e *PermissionError) Error() string { return e.Reason }

// questionKey keys the names of questions.
type questionKey struct {
	rows  cipher.Block // of values
	whole hash.Hash    // is reset for each
	in    *[aes.BlockSize]byte
}

func newQuestionKey(key [32]byte) questionKey {
	derive := func(label string) []byte {
		h := hmac.New(sha256.New, key[:])
		h.Write([]byte(label))
		return h.Sum(nil)
	}
	rows, err := aes.NewCipher(derive("geosql values of a question"))
	if err != nil {
		panic(err) // the key has 32 bytes
	}
	return questionKey{rows, hmac.New(sha256.New, derive("geosql question")), new([aes.BlockSize]byte)}
}

// rowsKey stands for a multiset of values, in whatever order they come: it is the sum of their identities'
// encryptions, modulo 2^128 (the keyed MSet-Add-Hash of Clarke et al., Incremental Multiset Hash Functions, 2003). Without
// the key nobody can tell which values a sum is of, nor find two multisets of the same sum but by asking.
type rowsKey struct {
	high, low uint64
	n         int64
}

// add adds a value.
func (k *questionKey) add(to *rowsKey, row *catalog.Row) {
	binary.BigEndian.PutUint32(k.in[:4], row.Column.Number)
	binary.BigEndian.PutUint32(k.in[4:8], row.Session)
	binary.BigEndian.PutUint64(k.in[8:], row.Counter)
	k.rows.Encrypt(k.in[:], k.in[:])
	var carry uint64
	to.low, carry = bits.Add64(to.low, binary.BigEndian.Uint64(k.in[8:]), 0)
	to.high, _ = bits.Add64(to.high, binary.BigEndian.Uint64(k.in[:8]), carry)
	to.n++
}

// name returns the name of a question: a keyed hash of the function, its settings, the range and the values.
func (k *questionKey) name(c frame.Call, kept frame.Settings, of Range, rows rowsKey) (name [32]byte) {
	b := make([]byte, 0, 256)
	field := func(s string) {
		b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	field(c.Name)
	b = kept.AppendTo(b)
	if of.narrowed.given {
		b = of.narrowed.appendTo(append(b, 'r'))
	}
	if of.person.given {
		b = of.person.appendTo(append(b, personLetter))
	}
	for _, n := range [...]uint64{rows.high, rows.low, uint64(rows.n)} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	k.whole.Reset()
	k.whole.Write(b)
	k.whole.Sum(name[:0])
	return name
}
