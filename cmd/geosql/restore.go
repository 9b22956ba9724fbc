package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sqlitefn"
)

var restoreCommand = &cli.Command{
	Name: "restore", Operands: "COPY [DB]", Min: 1, Max: 2,
	Summary: "put a backup into use: says what it lacks, and asks",
	Details: `COPY is what 'geosql backup' has written: a database with its ledger beside it, or a ledger.
With DB, which must not exist, the database is copied there. If DB's ledger is still there, it is
kept with all its charges: the safe way. Otherwise, or without DB, the ledger of the backup is put
into use. It does not know what was charged after the backup, and would grant that much a second
time; --block sets all limits to 0. That ledger records that it was restored, and 'geosql budget'
says so.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t restoreTask
		t.output.register(fs)
		cli.Switch(fs, "yes", "do not ask", func() { t.yes = true })
		cli.Switch(fs, "block", "set every limit to 0, so that nothing is granted until you set new ones", func() { t.block = true })
		return func(ctx context.Context, operands []string) error {
			if len(operands) == 2 {
				t.to = &operands[1]
			}
			return t.run(ctx, operands[0])
		}
	},
}

// A restoreTask holds the flags of the command restore.
type restoreTask struct {
	output     outputFlags
	yes, block bool
	to         *string // nil: the backup is used where it is
}

// A backup is an open backup.
type backup struct {
	books
	path   string
	book   *file.Ledger // open
	origin file.Origin
	head   ledger.Head
}

// run restores a backup.
//
// Of two ledgers of one id that grant budgets side by side, neither knows what the other has
// charged. So a backup takes the place of a ledger only where that is gone. Where it is still
// there and has grown out of the state of the backup, it has every charge that the backup has,
// and it is kept. Where it is still at the place that the backup was made of, nothing but --block
// makes a second one.
func (t *restoreTask) run(ctx context.Context, path string) error {
	if !t.yes && !interactiveAnswers() {
		return cli.UsageError("restore: it asks before it changes anything, and there is no terminal to ask on: give --yes")
	}
	if t.to != nil && sameFile(path, *t.to) {
		t.to = nil
	}
	b, err := t.openBackup(path)
	if err != nil {
		return err
	}
	if t.to == nil {
		err = t.inPlace(ctx, b)
	} else {
		err = t.toPlace(ctx, b, *t.to)
	}
	err = cmp.Or(err, b.book.Close())
	if err == nil && term.IsTerminal(int(os.Stderr.Fd())) {
		cli.Say("restored %s", *cmp.Or(t.to, &path))
	}
	return err
}

// interactiveAnswers reports whether a question would be seen and could be answered.
func interactiveAnswers() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
}

// openBackup opens a backup and verifies its ledger.
func (t *restoreTask) openBackup(path string) (*backup, error) {
	var f ledgerFlags // those given are about DB, if there is one
	if t.to == nil {
		f = t.output.ledger
	}
	from, err := findBooks(path, f)
	if err == nil {
		err = cmp.Or(refuseServer(path, from.ledger), refuseServer(path, t.output.ledger.file))
	}
	if err != nil {
		return nil, err
	}
	l, err := from.openFile()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s was backed up with its ledger: put %s back", path, from.ledger)
	case err != nil:
		return nil, err
	case l == nil:
		return nil, fmt.Errorf("%s has no ledger, since nobody had set a limit: use it as it is", path)
	}
	b := &backup{books: from, path: path, book: l}
	if err := b.inspect(); err != nil {
		l.Close()
		return nil, err
	}
	return b, nil
}

// refuseServer returns an error if a ledger is on a server: nothing there is a backup.
func refuseServer(path, where string) error {
	switch {
	case !engines.IsURL(where):
		return nil
	case path == where:
		return fmt.Errorf("restore: %s is a ledger on a server: restore it with PostgreSQL's own means, and then see 'geosql ledger accept -h'", engines.Label(where))
	}
	return fmt.Errorf("restore: the ledger of %s is on a server, %s, and knows what was charged since: "+
		"copy the database with 'cp', and name the ledger with --ledger as before", path, engines.Label(where))
}

// inspect reads what the ledger of the backup says of itself.
func (b *backup) inspect() error {
	origin, err := b.book.Origin()
	switch {
	case err != nil:
		return err
	case origin == nil:
		return fmt.Errorf("%s is no backup made by 'geosql backup', or was restored before: there is nothing to do", b.ledger)
	}
	b.origin = *origin
	if _, err := b.book.Verify("", nil); err != nil {
		return fmt.Errorf("%s cannot be restored: %w", b.ledger, err)
	}
	b.head, err = b.book.Head()
	return err
}

// inPlace puts a backup into use where it is.
func (t *restoreTask) inPlace(ctx context.Context, b *backup) error {
	if err := t.checkGone(b); err != nil {
		return err
	}
	if err := t.explain(ctx, b); err != nil {
		return err
	}
	return t.adopt(b, b.book)
}

// toPlace copies the database of a backup to a place, and its ledger if there is none.
func (t *restoreTask) toPlace(ctx context.Context, b *backup, to string) error {
	database, at := to, cmp.Or(t.output.ledger.file, sqlitefn.LedgerPath(to))
	if b.database == "" {
		if t.output.ledger.file != "" {
			return errLedgerItself(b.path)
		}
		database, at = "", to
	}
	if err := checkDatabase(to); err != nil {
		return err
	}
	_, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t.withLedger(ctx, b, database, at)
	case err != nil:
		return err
	case database == "":
		return fmt.Errorf("ledger %s is still there: there is nothing to restore", at)
	}
	return t.keepLedger(ctx, b, database, at)
}

// keepLedger copies the database of a backup beside the ledger that the backup was made of.
func (t *restoreTask) keepLedger(ctx context.Context, b *backup, to, at string) error {
	kept, err := file.Open(at, false, file.WithMode(t.output.ledger.mode))
	if err != nil {
		return err
	}
	defer kept.Close()
	later, err := b.chargedSince(kept)
	if err != nil {
		return err
	}
	if t.block {
		return cli.UsageError(fmt.Sprintf("restore: ledger %s is still there and is kept as it is; leave out --block", at))
	}
	copied, err := beginFile(to)
	if err != nil {
		return err
	}
	defer copied.remove()
	cli.Say("%s gets the database of the backup, of %s.", to, b.time())
	cli.Say("Ledger %s is kept, so that no charge is lost; its entries since then: %d.", at, later)
	if err := t.ask(ctx); err != nil {
		return err
	}
	if _, err := copyDatabase(ctx, b.database, copied.path()); err != nil {
		return err
	}
	if err := keepFacts(kept, b.book); err != nil {
		return err
	}
	return copied.publish()
}

// chargedSince returns how many entries a ledger has had since the backup was made of it. It
// returns an error if the ledger does not have every entry of the backup.
func (b *backup) chargedSince(l *file.Ledger) (entries int64, err error) {
	origin, err := l.Origin()
	switch {
	case err != nil:
		return 0, err
	case l.ID() != b.book.ID():
		return 0, fmt.Errorf("ledger %s has id %s, but %s was charged to ledger %s: move it away, or name another with --ledger", l.Path(), l.ID(), b.path, b.book.ID())
	case origin != nil:
		return 0, fmt.Errorf("ledger %s is a backup too: move it away, or put that one into use: geosql restore %s", l.Path(), l.Path())
	}
	if err := l.Follows(b.head); err != nil {
		return 0, fmt.Errorf("ledger %s has not grown out of the backup (%w), so neither has all charges: move it away, and restore with --block", l.Path(), err)
	}
	head, err := l.Head()
	return head.ID - b.head.ID, err
}

// withLedger copies a backup with its ledger, and puts the copy into use.
func (t *restoreTask) withLedger(ctx context.Context, b *backup, database, at string) error {
	if err := t.checkGone(b); err != nil {
		return err
	}
	files, err := beginBooks(database, at)
	if err != nil {
		return err
	}
	defer files.remove()
	if err := t.explain(ctx, b); err != nil {
		return err
	}
	if _, err := copyBooks(ctx, b.books, files); err != nil {
		return err
	}
	l, err := file.Open(files.ledger.path(), false, file.WithMode(t.output.ledger.mode))
	if err != nil {
		return err
	}
	if err := cmp.Or(t.adopt(b, l), l.Close()); err != nil {
		return err
	}
	return files.publish()
}

// adopt puts the ledger of a backup, or a copy of it, into use. If the ledger that the backup was
// made of is still there, what it has recorded since is kept: an account that is erased from a
// sealed database stays so.
func (t *restoreTask) adopt(b *backup, l *file.Ledger) error {
	from, err := b.source()
	if err != nil {
		return err
	}
	err = l.Adopt(t.block)
	if from == nil {
		return err
	}
	if err == nil {
		err = keepFacts(l, from)
	}
	return cmp.Or(err, from.Close())
}

// keepFacts adds the facts of one ledger to another.
func keepFacts(to, from *file.Ledger) error {
	facts, err := from.Facts(0)
	if err != nil || len(facts) == 0 {
		return err
	}
	return to.Record(facts...)
}

// source returns the ledger that a backup was made of, if it is still where it was, and else nil.
func (b *backup) source() (*file.Ledger, error) {
	if sameFile(b.origin.Path, b.ledger) { // the backup was put in its place
		return nil, nil
	}
	l, err := file.Open(b.origin.Path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("restore: the ledger that the backup was made of may still be in use: %w", err)
	}
	if origin, err := l.Origin(); err != nil || origin != nil || l.ID() != b.book.ID() {
		return nil, cmp.Or(err, l.Close()) // another ledger, or a backup that was put there
	}
	return l, nil
}

// checkGone returns an error if the ledger that a backup was made of is still there, unless nothing
// is to be granted.
func (t *restoreTask) checkGone(b *backup) error {
	if t.block {
		return nil
	}
	l, err := b.source()
	if l == nil || err != nil {
		return err
	}
	if err := l.Close(); err != nil {
		return err
	}
	return fmt.Errorf("ledger %s, which the backup was made of, is still there: "+
		"keep it ('geosql restore %s DB', with --ledger if it is not DB-ledger), move it away, or restore with --block", b.origin.Path, b.path)
}

// explain shows the balances of a backup, says what it does not know, and asks.
func (t *restoreTask) explain(ctx context.Context, b *backup) error {
	f := t.output
	f.ledger = ledgerFlags{}
	if b.database != "" {
		f.ledger.file = b.ledger
	}
	s, err := openBudgets(b.path, f)
	if err != nil {
		return err
	}
	if err := s.close(s.showBalances(ctx, nil)); err != nil {
		return err
	}
	cli.Say("%s is a backup of %s, up to entry %d of its ledger. These were the balances then.", b.path, b.time(), b.head.ID)
	cli.Say("What was charged after that is unknown to it.")
	if t.block {
		cli.Say("So every limit becomes 0, and nothing is granted until you set new ones.")
	} else {
		cli.Say("That much of the budgets can be spent a second time. If anything may have been charged,")
		cli.Say("give --block: every limit becomes 0, and you set new ones.")
	}
	cli.Say("The ledger records that it was restored. Releases of files that were unfinished are charged again.")
	if err := t.explainSealed(b); err != nil {
		return err
	}
	return t.ask(ctx)
}

// explainSealed says what a backup of a sealed database does not know besides charges, unless the
// ledger that it was made of is still there and knows.
func (t *restoreTask) explainSealed(b *backup) error {
	facts, err := b.book.Facts(0)
	if err != nil || len(facts) == 0 {
		return err
	}
	l, err := b.source()
	if err != nil {
		return err
	}
	if l != nil {
		return l.Close()
	}
	cli.Say("Accounts that were erased after it, and collectors that were added or revoked, are unknown to it too:")
	cli.Say("erase and revoke them again, before anybody uses the database.")
	return nil
}

// time returns the time of a backup as text.
func (b *backup) time() string { return b.origin.Time.Format(time.RFC3339) }

// ask asks whether to go on.
func (t *restoreTask) ask(ctx context.Context) error {
	if t.yes {
		return nil
	}
	return askYes(ctx, "Restore it? Type yes: ", "restore: nothing was changed")
}

// askYes asks a question on the terminal, and returns an error with the text otherwise unless the
// answer is yes.
func askYes(ctx context.Context, question, otherwise string) error {
	fmt.Fprint(os.Stderr, question)
	answer, err := readAnswer(ctx, bufio.NewReader(os.Stdin))
	switch {
	case err != nil && err != io.EOF:
		return err
	case strings.TrimSpace(answer) != "yes":
		return errors.New(otherwise)
	}
	return nil
}
